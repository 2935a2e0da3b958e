package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// bounds are arguments, and beneath them what is answered. The bounds follow from the layouts: the
// bits of the time, and beneath them nothing, or all bits; 0 is no ID. They were computed
// elsewhere.
const bounds = `
trace --from 2025-03-01T00:00:00Z --to 2025-03-01T00:00:00Z
	8111968091312750593 8111968366190657535
trace --from 2025-03-01 --to 2025-03-01
	8111968091312750593 8135717542472712191
trace --from 2025-03-01T01:00:00+01:00 --to 2025-03-01T23:59:59.999999999Z
	8111968091312750593 8135717542472712191
trace --from 2025-03-01 --to 2026-03-02
	8111968091312750593 9223372036854775807
	1 7604644630163881983
eightbyte --from 2019-11-15T14:12:39.591Z --to 2019-11-15T14:12:39.5919Z
	5b9bda2989c01000 5b9bda2989ffffff
eightbyte --form hex --from 2039-09-07 --to 2039-09-08
	7fff271d00001000 8001ba4affffffff
eightbyte --form number --from 2039-09-07 --to 2039-09-08
	9223133567385604096 9223372036854775807
	-9223372036854775808 -9222885730592751617
eightbyte --form number --from 2019-11-15T14:12:39.591Z --to 2019-11-15T14:12:39.591Z
	6601109550781173760 6601109550785363967
short --from 2019-07-03T18:45:04.129Z --to 2019-07-03T18:45:04.129Z
	11093174944792576 11093174945054719
short --form number --from 2025-03-01 --to 2025-03-31
	57914110771200000 58616237260799999
short --from 2018-03-01 --to 2018-03-01T00:00:00Z
	1 262143
sno --from 2023-12-26T10:49:43.96Z --to 2023-12-26T10:49:43.963Z
	8fhmi7me22222222 8fhmi7mfxxxxxxxx
sno --form hex --from 2023-12-26T10:49:43.960Z --to 2023-12-26T10:49:43.96Z
	335f48168c0000000000 335f48168dffffffffff
sno --form uuid --from 2023-12-26T10:49:43.96Z --to 2023-12-26T10:49:43.96Z
	3866686d-6937-6d65-3232-323232323232 3866686d-6937-6d66-7878-787878787878
sno --from 2025-03-01 --to 2025-03-31
	8wrwk92222222222 923tpdhxxxxxxxxx
sno --json --from 2025-03-01 --to 2025-03-31
	{"scheme":"sno","min":"8wrwk92222222222","max":"923tpdhxxxxxxxxx"}
eightbyte --json --form number --from 2019-11-15T14:12:39.591Z --to 2019-11-15T14:12:39.591+00:00
	{"scheme":"eightbyte","min":"6601109550781173760","max":"6601109550785363967"}
`

func TestBounds(t *testing.T) {
	s := inside(t)
	for row := range strings.SplitSeq(strings.ReplaceAll(bounds[1:], "\n\t", "\t"), "\n") {
		args, answer, ok := strings.Cut(row, "\t")
		switch {
		case row == "": // the end
			continue
		case !ok:
			t.Fatalf("%q has no answer", row)
		}
		want := strings.ReplaceAll(answer, "\t", "\n") + "\n"
		got := s.run(append([]string{"bounds"}, strings.Fields(args)...)...)
		if got.stdout != want || got.status != 0 {
			t.Errorf("%s: %v\nwant %s", args, got, want)
		}
		spread := strings.Contains(got.stderr, "SPREAD IDs have no order by time")
		if spread != strings.HasPrefix(args, "eightbyte") || !spread && got.stderr != "" {
			t.Errorf("%s: stderr %q", args, got.stderr)
		}
	}
}

// What is minted now lies within the bounds of today, and of no other day.
func TestBoundsHoldIDs(t *testing.T) {
	s := inside(t)
	for scheme, args := range map[string]string{
		"trace": "--node 9", "eightbyte": "--generator 3 --cluster 1 --mode time", "short": "",
		"sno": "--partition 9 --meta 255",
	} {
		id := strings.TrimSpace(s.must(append([]string{"new", scheme}, strings.Fields(args)...)...))
		if scheme == "short" {
			var fields struct{ ID string }
			err := json.Unmarshal(
				[]byte(s.must("inspect", "--scheme", "short", "--json", "--", id)), &fields)
			if err != nil {
				t.Fatal(err)
			}
			id = fields.ID
		}
		day := func(n int) string { return time.Now().UTC().AddDate(0, 0, n).Format(time.DateOnly) }
		for span, want := range map[[2]string]bool{
			{day(-1), day(1)}:  true, // it may be midnight
			{day(-9), day(-2)}: false,
			{day(2), day(9)}:   false,
		} {
			got := s.run("bounds", scheme, "--from", span[0], "--to", span[1])
			within := false
			for _, line := range lines(got.stdout) {
				smallest, largest, _ := strings.Cut(line, " ")
				within = within || inOrder(smallest, id) && inOrder(id, largest)
			}
			if within != want || got.status != 0 {
				t.Errorf("%s %s in %v: %v, want %v: %v", scheme, id, span, within, want, got)
			}
		}
	}
}

// inOrder compares texts of numbers, and texts of one length.
func inOrder(a, b string) bool { return len(a) < len(b) || len(a) == len(b) && a <= b }
