package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// A ParquetError says why a file cannot be read as Parquet.
type ParquetError struct {
	Row    int64  // from 1; 0 where it is about the whole file
	Column string // "" where it is about none
	Err    error
}

func (e *ParquetError) Error() string {
	text := "Parquet: "
	if e.Row > 0 {
		text += fmt.Sprintf("row %d, ", e.Row)
	}
	if e.Column != "" {
		text += "column " + quoted(e.Column) + ", "
	}
	return text[:len(text)-2] + ": " + e.Err.Error()
}

func (e *ParquetError) Unwrap() error { return e.Err }

// errPipe is for what has no end to begin with.
var errPipe = errors.New("its table of contents is at the end: want a file, not a pipe")

// parquetRecords reads the columns of one row group side by side, and of each no more than a page
// at a time. So the memory is that of the largest pages: see maxPages.
type parquetRecords struct {
	r        io.ReaderAt
	size     int64
	contents *format.FileMetaData
	file     *parquet.File // see forLibrary
	unpacker unpacker
	room     int64 // what is left of maxPages
	cols     []*parquetColumn
	names    []string

	group int   // the row group that is next
	left  int64 // rows of the one that is read
	rows  int64 // read so far
	whole wholeSum
	most  int // bytes of a row
}

// A parquetColumn is a column of the row group that is read.
type parquetColumn struct {
	name   string
	typ    *parquetType
	text   appender
	chunk  *parquetChunk
	pages  parquet.Pages
	page   parquet.Page
	values parquet.ValueReader
	buffer []parquet.Value // made for the first row
	at, n  int             // what of the buffer was used, and what is in it
}

// readBuffers is how much memory columns have together to read the file.
const readBuffers = 8 << 20

// A wholeSum is the checksum of a whole file, whatever part of it was read. Rows of Parquet are not
// one after another in it. A file that was changed is another file.
type wholeSum string

func (wholeSum) advance(int64)           {}
func (s wholeSum) checksum(int64) string { return string(s) }

// recovered turns a panic of the library into an error. Files damaged on purpose meet some.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("damaged (parquet-go: %v)", p)
	}
}

// openParquet reads the table of contents.
func openParquet(r io.Reader) (p *parquetRecords, err error) {
	defer func() {
		var own *ParquetError
		if err != nil && !errors.As(err, &own) {
			err = &ParquetError{Err: err}
		}
	}()
	file, ok := r.(interface {
		io.ReaderAt
		io.Seeker
	})
	if !ok {
		return nil, errPipe
	}
	size, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, errPipe
	}
	p = &parquetRecords{r: file, size: size, most: maxRecord}
	if err := p.open(); err != nil {
		return nil, err
	}
	sum := sha256.New()
	if _, err := io.Copy(sum, io.NewSectionReader(file, 0, size)); err != nil {
		return nil, err
	}
	p.whole = wholeSum(hex.EncodeToString(sum.Sum(nil)))
	return p, nil
}

func (p *parquetRecords) open() (err error) {
	defer recovered(&err)
	if p.contents, err = readFooter(p.r, p.size); err != nil {
		return err
	}
	if p.file, err = forLibrary(p.contents); err != nil {
		return err
	}
	p.room = maxPages
	leaves := p.file.Root().Columns()
	schema := p.contents.Schema
	for i, leaf := range leaves {
		// Before the first nested column, the elements of the schema are the columns.
		if !leaf.Leaf() || leaf.Repeated() || leaf.Optional() && leaf.MaxDefinitionLevel() != 1 {
			return &ParquetError{Column: leaf.Name(), Err: errNested}
		}
		if typ := leaf.Type(); typ.Kind() == parquet.FixedLenByteArray && typ.Length() < 1 {
			err := fmt.Errorf("its values have %d bytes", typ.Length())
			return &ParquetError{Column: leaf.Name(), Err: err}
		}
		for _, group := range p.contents.RowGroups {
			if err := checkCodec(group.Columns[i].MetaData.Codec); err != nil {
				return &ParquetError{Column: leaf.Name(), Err: err}
			}
		}
		text, err := appenderOf(leaf.Type(), &schema[i+1])
		if err != nil {
			return &ParquetError{Column: leaf.Name(), Err: err}
		}
		p.names = append(p.names, leaf.Name())
		p.cols = append(p.cols, &parquetColumn{
			name: leaf.Name(), typ: parquetTypeOf(leaf.Type()), text: text,
		})
	}
	if len(p.names) == 0 {
		return errors.New("no columns")
	}
	var bad *RecordError
	if err := checkColumns(p.names); errors.As(err, &bad) {
		return errors.New(bad.Reason)
	}
	return nil
}

func (p *parquetRecords) columns() []string { return p.names }

func (p *parquetRecords) types() (types []*parquetType) {
	for _, c := range p.cols {
		types = append(types, c.typ)
	}
	return types
}

// line is the row that was read last.
func (p *parquetRecords) line() int { return int(p.rows) }

// offset is what of the file the rows make, by their number.
func (p *parquetRecords) offset() int64 {
	if total := p.contents.NumRows; p.rows < total {
		return int64(float64(p.size) * (float64(p.rows) / float64(total)))
	}
	return p.size
}

func (p *parquetRecords) read(into *block) (err error) {
	before, start := len(into.ends), len(into.text)
	defer func() {
		if err != nil {
			into.cut(before)
		}
	}()
	for p.left == 0 {
		if p.group == len(p.contents.RowGroups) {
			return io.EOF
		}
		if err := p.openGroup(); err != nil {
			return err
		}
	}
	for _, c := range p.cols {
		if err := c.read(into, start+p.most-len(into.text)); err != nil {
			if err == errLong {
				err = fmt.Errorf("the row is longer than %d bytes, which a row may have", p.most)
			}
			return &ParquetError{p.rows + 1, c.name, err}
		}
	}
	p.rows++
	p.left--
	return nil
}

func (p *parquetRecords) openGroup() (err error) {
	defer recovered(&err)
	group := &p.contents.RowGroups[p.group]
	for i := range group.Columns {
		c, meta := p.cols[i], &group.Columns[i].MetaData
		fail := func(err error) error { return &ParquetError{p.rows + 1, c.name, err} }
		if meta.NumValues != group.NumRows || meta.NumValues < 0 {
			return fail(fmt.Errorf("%d values for %d rows", meta.NumValues, group.NumRows))
		}
		if err := c.close(); err != nil {
			return fail(err)
		}
		leaf := p.file.Root().Columns()[i]
		if c.chunk, err = openChunk(p.r, p.size, meta, leaf, &p.unpacker, &p.room); err != nil {
			return fail(err)
		}
		c.pages = leaf.PagesFrom(c.chunk)
	}
	p.group++
	p.left = group.NumRows
	return nil
}

func (c *parquetColumn) close() error {
	parquet.Release(c.page)
	c.page, c.values, c.at, c.n = nil, nil, 0, 0
	if c.pages == nil {
		return nil
	}
	c.chunk.close()
	return c.pages.Close()
}

var errLong = errors.New("the row is too long")

// read appends the column's next value, if its text has no more than most bytes.
func (c *parquetColumn) read(into *block, most int) error {
	if c.at == c.n {
		if err := c.fill(); err != nil {
			return err
		}
	}
	v := &c.buffer[c.at]
	c.at++
	if v.IsNull() {
		into.addNull()
		return nil
	}
	if kind := v.Kind(); kind == parquet.ByteArray || kind == parquet.FixedLenByteArray {
		n := len(v.ByteArray())
		if c.typ.family == ofBytes { // see appendBinary
			n = 2 + 2*n
		}
		if n > most && c.typ.family != ofDecimal { // whose digits may be fewer
			return errLong
		}
	}
	text, err := c.text(into.text, v)
	if err != nil {
		return err
	}
	if len(text)-len(into.text) > most {
		return errLong
	}
	if c.typ.fits != nil {
		if err := c.typ.fits(text[len(into.text):]); err != nil {
			return err
		}
	}
	into.text = text
	into.endField()
	return nil
}

// fill reads the next values of a page, or of the next one.
func (c *parquetColumn) fill() (err error) {
	defer recovered(&err)
	if c.buffer == nil {
		c.buffer = make([]parquet.Value, 256)
	}
	for {
		if c.values == nil {
			if c.page, err = c.pages.ReadPage(); err != nil {
				if c.chunk.err != nil {
					err = c.chunk.err // and not what the library makes of it
				}
				if err == io.EOF {
					err = io.ErrUnexpectedEOF
				}
				return err
			}
			c.values = c.page.Values()
		}
		n, err := c.values.ReadValues(c.buffer)
		if n > 0 {
			c.at, c.n = 0, n
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		parquet.Release(c.page)
		c.page, c.values = nil, nil
	}
}
