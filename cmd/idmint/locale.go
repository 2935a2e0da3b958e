package main

import (
	"cmp"
	"os"
	"runtime"
	"strings"
)

// inUTF8 reports whether texts are in UTF-8, as POSIX has it: by the first of these variables that
// is set. None is the locale C, which is ASCII. Windows has no such variables, and writes UTF-8.
func inUTF8() bool {
	locale := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_CTYPE"), os.Getenv("LANG"))
	if locale == "" {
		return runtime.GOOS == "windows"
	}
	name := strings.ToUpper(locale)
	return strings.Contains(name, "UTF-8") || strings.Contains(name, "UTF8")
}

// asASCII are our own signs. IDs, names and JSON pass no function that uses it.
var asASCII = map[rune]string{
	'…': "...", '▲': "^", '│': "|", '─': "-", '└': "+", '┘': "+", '┼': "+",
}

// sign is a sign of ours, as the terminal shows it.
func (p printer) sign(char rune) string {
	if text, ok := asASCII[char]; ok && p.ascii {
		return text
	}
	return string(char)
}

// signs is a text of ours.
func (p printer) signs(text string) string {
	if !p.ascii {
		return text
	}
	var b strings.Builder
	for _, char := range text {
		b.WriteString(p.sign(char))
	}
	return b.String()
}
