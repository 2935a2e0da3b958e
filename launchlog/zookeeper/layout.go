package zookeeper

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/idmint/idmint/launchlog/internal/kv"
)

// The znodes below the path are:
//
//	~log / version                 the schema row, which has the log's word
//	~WORD                          the log's root; Now writes it for its time
//	  HH / NS:launch:00007           a partition: : is for /
//	                     / state     a row whose name has up to 8 lower-case letters
//	                     / ~claim-00 / claim-00042   a block of numbered rows
//	                     / %t1f / token-9d0c…        a bucket of other rows
//
// The transaction that creates the schema row also creates the root, and nothing creates it again.
// A recreated log therefore has another root, which no request of a running app can reach. No name
// of a path begins with ~, so logs of different paths do not overlap, even if one path contains the
// other.
//
// A server returns all children of a znode in one answer, and its tools accept at most 1 MB,
// jute.maxbuffer. Children are therefore spread. HH is a hash of the partition's name, 00 to ff. A
// block has up to 1,000 rows, which can be listed in order without the others. A bucket's name is
// the first character of the row's name and a hash of the name, 00 to 3f. With 100,000 claims and
// tokens the largest answer lists 1,600 tokens.
//
// Rows and partitions begin with a letter or digit, and blocks and buckets do not.
const (
	blockSign  = "~"
	bucketSign = "%"
	buckets    = 64
)

// series has the prefixes of numbered rows, and how many digits follow them. All names of a series
// have the same length, so that a block contains all names between its first and its last.
var series = map[string]int{"launch": 5, "claim": 5, "event": 6}

// blockDigits is how many of the last digits of a row's number are not in its block's name.
const blockDigits = 3

// block returns the name of the block of a numbered row.
func block(name string) (string, bool) {
	head, digits, _ := strings.Cut(name, "-")
	n, ok := series[head]
	if !ok || len(digits) != n || strings.Trim(digits, "0123456789") != "" {
		return "", false
	}
	return blockSign + name[:len(name)-blockDigits], true
}

// parent returns the name of the znode between a partition and its row, or "" if there is none.
func parent(name string) string {
	if b, ok := block(name); ok {
		return b
	}
	if len(name) <= 8 && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz") == "" {
		return ""
	}
	return fmt.Sprintf("%s%s%02x", bucketSign, name[:1], hash(name)%buckets)
}

// ownSign begins the names of a log's own znodes in its path.
const ownSign = "~"

// rootPath returns the path of the root of the log that has the word.
func (e engine) rootPath(word string) string { return e.config.Path + "/" + ownSign + word }

// partPath returns the path of a partition.
func (e engine) partPath(part string) string {
	if part == kv.SchemaPart {
		return e.config.Path + "/" + ownSign + "log"
	}
	return fmt.Sprintf("%s/%02x/%s", e.root, hash(part)%256, strings.ReplaceAll(part, "/", ":"))
}

// rowPath returns the path of a row in a partition.
func (e engine) rowPath(part, name string) string {
	path := e.partPath(part)
	if p := parent(name); p != "" {
		path += "/" + p
	}
	return path + "/" + name
}

func hash(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return h.Sum32()
}

// A span is the names between two others, both excluded. If one of them is empty, the span is not
// limited there.
type span struct{ after, before string }

func (s span) has(name string) bool {
	return (s.after == "" || name > s.after) && (s.before == "" || name < s.before)
}

// sort selects from the children of a partition: rows in the span, buckets that may have such rows,
// and blocks that may, in order.
func (s span) sort(children []string) (rows, buckets, blocks []string) {
	for _, child := range children {
		switch {
		case strings.HasPrefix(child, blockSign):
			head := strings.TrimPrefix(child, blockSign)
			first := head + strings.Repeat("0", blockDigits)
			last := head + strings.Repeat("9", blockDigits)
			if s.reaches(first, last) {
				blocks = append(blocks, child)
			}
		case strings.HasPrefix(child, bucketSign):
			first := child[len(bucketSign) : len(bucketSign)+1]
			if s.reaches(first, first+"\xff") { // which is greater than every character of a name
				buckets = append(buckets, child)
			}
		case s.has(child):
			rows = append(rows, child)
		}
	}
	slices.Sort(blocks)
	return rows, buckets, blocks
}

// reaches reports whether the span may have a name from first to last.
func (s span) reaches(first, last string) bool {
	return (s.after == "" || last > s.after) && (s.before == "" || first < s.before)
}
