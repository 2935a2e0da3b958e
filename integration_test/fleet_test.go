// Package integration_test holds tests of several packages together, in real databases.
package integration_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

func TestMain(m *testing.M) {
	subprocess.Work(map[string]func([]string) error{"app": app, "minter": minter})
	dbtest.Main(m)
}

type (
	CustomerID = idtype.Decimal[Customer]
	OrderID    = idtype.Decimal[Order]

	Customer struct {
		ID     CustomerID
		App    string
		Seq    int
		Orders []Order
	}
	Order struct {
		ID         OrderID
		CustomerID CustomerID `gorm:"not null"`
		App        string
		Seq        int // counts the orders of the app as it creates them
	}
)

// dsn waits for the lock within SQLite, as an app does that has no use for contexts there.
func dsn(path string) string { return sqlite.DSN(path, sqlite.Existing) + "&_busy_timeout=20000" }

// app is a process of a fleet: it takes its generator number from the log and creates customers
// with orders until it is killed. It writes down the IDs that the database has acknowledged.
func app(args []string) error {
	path, out, name := args[0], args[1], args[2]
	launch, err := strconv.Atoi(args[3])
	if err != nil {
		return err
	}
	store, err := sqlite.Open(context.Background(), path)
	if err != nil {
		return err
	}
	log, err := launchlog.New(store, nil)
	if err != nil {
		return err
	}
	gen, err := generator.NewDecimal(log.Generators(launch))
	if err != nil {
		return err
	}
	db, err := gorm.Open(gormsqlite.Open(dsn(path)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		return err
	}
	if err := db.Use(gormid.New(gormid.Use(gen))); err != nil {
		return err
	}
	acknowledged, err := os.OpenFile(out, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	for customers, seq := 0, 0; ; customers++ {
		c := Customer{App: name, Seq: customers}
		for range rand.IntN(4) {
			seq++
			c.Orders = append(c.Orders, Order{App: name, Seq: seq})
		}
		if err := db.Create(&c).Error; err != nil {
			return err
		}
		line := "customers " + c.ID.String() + "\n"
		for _, o := range c.Orders {
			line += "orders " + o.ID.String() + "\n"
		}
		if _, err := acknowledged.WriteString(line); err != nil {
			return err
		}
	}
}

// TestFleet has apps of several launches insert into the same tables while they are killed and
// restarted at random moments, and compares what the database holds with what the apps were told.
func TestFleet(t *testing.T) {
	const apps, kills, launches = 6, 60, 3
	dir := t.TempDir()
	path := filepath.Join(dir, "fleet.db")
	ctx := context.Background()
	made, err := sql.Open("sqlite3", sqlite.DSN(path, sqlite.Create))
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if _, _, err := migrations.Up(ctx, made, migrations.SQLite); err != nil {
		t.Fatal(err)
	}
	db, err := gorm.Open(gormsqlite.Open(dsn(path)), &gorm.Config{Logger: logger.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.AutoMigrate(&Customer{}, &Order{}); err != nil {
		t.Fatal(err)
	}
	store, err := sqlite.Open(ctx, path)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	log, err := launchlog.New(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range launches {
		if _, err := log.Start(ctx, storetest.Request(fmt.Sprint("deployment ", i))); err != nil {
			t.Fatal(err)
		}
	}

	started := 0
	begin := func() *exec.Cmd {
		started++
		name := strconv.Itoa(started)
		cmd := subprocess.Command("app", path, filepath.Join(dir, name), name,
			strconv.Itoa(1+started%launches))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd
	}
	running := make([]*exec.Cmd, apps)
	for i := range running {
		running[i] = begin()
	}
	for range kills {
		time.Sleep(time.Duration(rand.IntN(150)) * time.Millisecond)
		i := rand.IntN(apps)
		subprocess.Kill(t, running[i])
		running[i] = begin()
	}
	for _, cmd := range running {
		subprocess.Kill(t, cmd)
	}

	acknowledged := map[string]map[string]bool{"customers": {}, "orders": {}}
	for i := 1; i <= started; i++ {
		file, err := os.Open(filepath.Join(dir, strconv.Itoa(i)))
		if os.IsNotExist(err) {
			continue // killed before it had anything to write
		} else if err != nil {
			t.Fatal(err)
		}
		for lines := bufio.NewScanner(file); lines.Scan(); {
			var table, id string
			if _, err := fmt.Sscan(lines.Text(), &table, &id); err != nil {
				continue // the last line of a process that was killed over it
			}
			if acknowledged[table] == nil {
				t.Fatalf("process %d wrote %q", i, lines.Text())
			}
			if acknowledged[table][id] {
				t.Errorf("%s: ID %s was acknowledged twice", table, id)
			}
			acknowledged[table][id] = true
		}
		file.Close()
	}
	customers, orders := len(acknowledged["customers"]), len(acknowledged["orders"])
	for table, ids := range acknowledged {
		auditTable(t, made, table, ids)
	}
	var orphans int
	if err := made.QueryRow(
		"SELECT count(*) FROM orders WHERE customer_id NOT IN (SELECT id FROM customers)").Scan(&orphans); err != nil || orphans != 0 {
		t.Errorf("%d orders refer to no customer: %v", orphans, err)
	}
	t.Logf("%d processes, %d kills: %d customers and %d orders acknowledged, 0 repeats, 0 lost",
		started, kills+apps, customers, orders)
	if orders < 500 {
		t.Errorf("only %d orders: the test shows too little", orders)
	}
}

// auditTable checks that what was acknowledged is there, that every ID is of a generator number
// that the log gave out, that one process had it, and that its order is the order of creation.
func auditTable(t *testing.T, db *sql.DB, table string, acknowledged map[string]bool) {
	t.Helper()
	rows, err := db.Query("SELECT id, app, seq FROM " + table + " ORDER BY id")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	type last struct {
		app string
		seq int
	}
	numbers := map[idtype.DecimalID]last{}
	for rows.Next() {
		var id idtype.DecimalID
		var app string
		var seq int
		if err := rows.Scan(&id, &app, &seq); err != nil {
			t.Fatal(err)
		}
		delete(acknowledged, id.String())
		if err := id.Validate(); err != nil || id.IsTest() {
			t.Errorf("%s: %v: %v", table, id, err)
		}
		number := id % idtype.DecimalStep
		before, ok := numbers[number]
		if ok && (before.app != app || before.seq >= seq) {
			t.Errorf("%s: %v is row %d of app %s, after row %d of app %s", table, id, seq, app,
				before.seq, before.app)
		}
		numbers[number] = last{app, seq}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for id := range acknowledged {
		t.Errorf("%s: acknowledged ID %s is lost", table, id)
	}
	for number := range numbers {
		var one int
		err := db.QueryRow(
			"SELECT 1 FROM idmint_generator WHERE namespace = 'default' AND launch_id = ? AND generator_id = ?",
			number.Launch(), number.Generator()).Scan(&one)
		if err != nil {
			t.Errorf("launch %d, generator %d is not in the log: %v", number.Launch(),
				number.Generator(), err)
		}
	}
}
