.PHONY: test soak lint fmt bench import-bench report screenshots fuzz mutants

# Every promise once, on one server of each kind: ten minutes. It installs what is missing, tells
# each package as it ends, and sums up.
test:
	@scripts/test

# What takes minutes, breaks servers, needs clusters, or looks for errors by chance: an hour. It
# writes docs/results/soak.md and docs/results/faults.md.
soak:
	@scripts/test soak

# integration_test/go.mod pins the tools.
lint:
	@scripts/lint

fmt:
	go tool gofumpt -w .

# Speed, as ratios within one run: compared with other libraries, which writes
# docs/results/speed.md, and then of the parts. Takes ten minutes on a machine that does nothing else. `make bench ROUNDS=1 BENCHTIME=20ms` only shows that all of it works.
bench:
	bench/run $(ROUNDS) $(BENCHTIME)
	eval "$$(scripts/databases)" && go test -run '^$$' -bench . ./idtype ./generator \
		./sqlid/pgxid ./clickhouse ./launchlog/... ./integration_test/adapters \
		./integration_test/gorm ./integration_test/stores

# Import beside psql, mariadb and sqlite3, which must be installed. Writes the tables of
# docs/reference/import.md. Takes five minutes on a machine that does nothing else.
import-bench:
	eval "$$(scripts/databases)" && bench/import

# Order, size and speed of the schemes in a server of each kind. It writes nothing.
report:
	eval "$$(scripts/databases)" && go run ./integration_test/withdatabases sh -c 'go run ./cmd/idmint report \
		--db "$$IDMINT_TEST_POSTGRES" --db "$$IDMINT_TEST_POSTGRES18" --db "$$IDMINT_TEST_MARIADB" --db "$$IDMINT_TEST_CLICKHOUSE"'

# The pictures of docs/screenshots, by the tests that look at the pages in Chromium.
screenshots:
	eval "$$(scripts/browser)" && IDMINT_SCREENSHOTS=1 go test -count=1 -run TestViewer ./soak_test/browser
	go test -count=1 -run TestPictures ./soak_test/browser

# Every fuzz target for FUZZTIME: a number of inputs, because go test fails now and then where a duration ends.
FUZZTIME ?= 1000000x
fuzz:
	@scripts/fuzz $(FUZZTIME)

# Breaks the code on purpose, a place at a time: the tests must notice. Takes minutes.
mutants:
	go run ./integration_test/mutants
