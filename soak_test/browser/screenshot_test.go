package browser

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
)

const screenshots = "../../docs/screenshots"

// pictures are the files of docs/screenshots, with their widths and heights.
var pictures = map[string]look{
	"viewer-explain-light.png":       {width: 1200, height: 900},
	"viewer-launches-light.png":      {width: 1200, height: 900},
	"viewer-launch-dark.png":         {width: 1200, height: 900, dark: true},
	"viewer-health-light.png":        {width: 1200, height: 900},
	"viewer-explain-narrow-dark.png": {width: 390, height: 844, dark: true},
}

// largest keeps pictures small: everybody who has the repository has them.
const largest = 150_000

// picture takes a screenshot of the top of the window. It writes it where IDMINT_SCREENSHOTS is set.
func (b *tab) picture(name string) {
	b.Helper()
	size := pictures[name]
	data := call(b, page.CaptureScreenshot, page.CaptureScreenshotParams{
		Clip: &page.Viewport{Width: float64(size.width), Height: float64(size.height), Scale: 1},
	}).Data
	if os.Getenv("IDMINT_SCREENSHOTS") != "" {
		checkPicture(b.T, name, data)
		if err := os.WriteFile(filepath.Join(screenshots, name), data, 0o644); err != nil {
			b.Fatal(err)
		}
	}
}

// checkPicture fails where a picture has another size than its window, is large, or is light in the
// dark.
func checkPicture(t *testing.T, name string, data []byte) {
	t.Helper()
	want := pictures[name]
	image, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	size := image.Bounds().Size()
	r, g, b, _ := image.At(2, 2).RGBA()
	if int64(size.X) != want.width || int64(size.Y) != want.height || len(data) > largest ||
		(r+g+b < 3*0x8000) != want.dark {
		t.Errorf("%s: %v, %d bytes, its corner is %x %x %x: want %+v, at most %d", name, size,
			len(data), r>>8, g>>8, b>>8, want, largest)
	}
}

// The pictures of docs are all there, of the sizes that the tests take them in.
func TestPictures(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(screenshots)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := pictures[e.Name()]; !ok {
			t.Errorf("no test takes %s", e.Name())
		}
	}
	for name := range pictures {
		data, err := os.ReadFile(filepath.Join(screenshots, name))
		if err != nil {
			t.Errorf("%v: make screenshots", err)
			continue
		}
		checkPicture(t, name, data)
	}
}
