package adapters_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/idmint/idmint/migrations"
)

// An httpService is the process of examples/http.
type httpService struct {
	url string
	cmd *exec.Cmd
	log *bufio.Reader
}

func startHTTP(t *testing.T, program, dir string) *httpService {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "IDMINT_LAUNCH_ID=1", "ADDRESS=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	try(t, err)
	try(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // of one that a failed test left
	s := &httpService{cmd: cmd, log: bufio.NewReader(stderr)}
	line, err := s.log.ReadString('\n')
	if s.url = regexp.MustCompile(`http://\S+`).FindString(line); s.url == "" {
		t.Fatalf("it says %q, %v", line, err)
	}
	return s
}

// stop asks the process to end, and waits until it has.
func (s *httpService) stop(t *testing.T) {
	t.Helper()
	try(t, s.cmd.Process.Signal(syscall.SIGTERM))
	rest, readErr := io.ReadAll(s.log)
	if err := s.cmd.Wait(); err != nil || readErr != nil || len(rest) != 0 {
		t.Errorf("it ended with %v, %v, and said %s", err, readErr, rest)
	}
}

// ask returns an answer's status, location and body.
func (s *httpService) ask(t *testing.T, method, path, body string) (int, string, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path,
		strings.NewReader(body))
	try(t, err)
	response, err := http.DefaultClient.Do(request)
	try(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s: %v, %v", method, path, response.Header, err)
	}
	return response.StatusCode, response.Header.Get("Location"), strings.TrimSpace(string(text))
}

// The service of docs/http.md, as a process: IDs in paths, in JSON and in query parameters.
func TestHTTPExample(t *testing.T) {
	t.Parallel()
	dir := newShop(t, migrations.SQLite).dir
	program := example(t, "http")
	t.Run("page", func(t *testing.T) { testHTTPPage(t, program) })
	s := startHTTP(t, program, dir)
	const ann = `{"id":"10000000001","name":"Ann","invited_by":null}`
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/users", `{"name":"Ann"}`, 201, ann},
		{"GET", "/users/10000000001", "", 200, ann},
		{
			"POST", "/users", `{"name":"Bob","invited_by":"10000000001"}`, 201,
			`{"id":"20000000001","name":"Bob","invited_by":"10000000001"}`,
		},
		{"GET", "/users/20000000002", "", 404, `{"error":"no such user"}`},
		{"GET", "/users/+1", "", 400, `{"error":"idtype: \"+1\" as DecimalID: `},
		{"GET", "/users/0", "", 400, `{"error":"idtype: \"0\" as DecimalID: `},
		{"GET", "/users?after=x", "", 400, `{"error":"idtype: \"x\" as DecimalID: `},
		{"GET", "/users?after=", "", 400, `{"error":"idtype: \"\" as DecimalID: `},
		{"GET", "/users?limit=101", "", 400, `{"error":"limit \"101\": want 1 ..= 100"}`},
		{
			"POST", "/users", `{"name":"Cem","invited_by":1e10}`, 400,
			`{"error":"idtype: \"1e10\" as DecimalID: `,
		},
		{
			"POST", "/users", `{"name":"Cem","invited_by":"20000000002"}`, 400,
			`{"error":"invited_by 20000000002: no such user"}`,
		},
		{"POST", "/users", `{"id":"30000000001","name":"Cem"}`, 400, `{"error":"want a name, and no id"}`},
		{"POST", "/users", `{"name":"` + strings.Repeat("x", 1<<17) + `"}`, 400, `{"error":"http: `},
	} {
		status, location, got := s.ask(t, c.method, c.path, c.body)
		if status != c.status || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s %.50s: %d %.200s, want %d %s", c.method, c.path, c.body, status, got, c.status,
				c.want)
		}
		if status == 201 {
			if _, _, again := s.ask(t, "GET", location, ""); again != got {
				t.Errorf("at %s is %s, want %s", location, again, got)
			}
		}
	}
	s.stop(t)

	// The next process goes on above: its rows are newer.
	s = startHTTP(t, program, dir)
	for i := range 5 {
		if status, _, got := s.ask(t, "POST", "/users", fmt.Sprintf(`{"name":"%d"}`, i)); status != 201 {
			t.Fatal(status, got)
		}
	}
	var names []string
	for path := "/users?limit=2"; path != ""; {
		var page struct {
			Users []struct{ Name string }
			Next  string
		}
		_, _, got := s.ask(t, "GET", path, "")
		if err := json.Unmarshal([]byte(got), &page); err != nil || len(page.Users) > 2 {
			t.Fatalf("%s: %s, %v", path, got, err)
		}
		for _, u := range page.Users {
			names = append(names, u.Name)
		}
		path = ""
		if page.Next != "" {
			path = "/users?limit=2&after=" + page.Next
		}
	}
	if want := []string{"4", "3", "2", "1", "0", "Bob", "Ann"}; !slices.Equal(names, want) {
		t.Errorf("newest first: %q, want %q", names, want)
	}
	s.stop(t)
}

// testHTTPPage: the requests and answers of docs/http.md.
func testHTTPPage(t *testing.T, program string) {
	page, err := os.ReadFile("../../docs/http.md")
	try(t, err)
	_, block, _ := strings.Cut(string(page), "```http\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	s := startHTTP(t, program, newShop(t, migrations.SQLite).dir)
	for i := 0; i+1 < len(lines); i += 2 {
		request := strings.SplitN(lines[i]+" ", " ", 3)
		status, _, body := s.ask(t, request[0], request[1], request[2])
		if got := fmt.Sprint(status, " ", body); got != lines[i+1] {
			t.Errorf("%s\n%s, want\n%s", lines[i], got, lines[i+1])
		}
	}
	if len(lines) < 14 {
		t.Errorf("the page has %d lines", len(lines))
	}
	s.stop(t)
}
