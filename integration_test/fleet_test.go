// Package integration_test holds tests of several packages together, in real databases.
package integration_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
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
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/launchlog/storetest"
)

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
	log, err := openLog(path)
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
	acknowledged, err := openRecord(out)
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

// TestFleet has apps of several launches insert into the same tables. They are killed and restarted
// at random moments. Then it compares what the database holds with what the apps were told.
func TestFleet(t *testing.T) {
	const apps, kills, launches = 6, 60, 3
	dir := t.TempDir()
	path := filepath.Join(dir, "fleet.db")
	ctx := context.Background()
	made := newLogFile(t, path)
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
	readRecords(t, dir, started, func(process int, table, id string) {
		if acknowledged[table] == nil {
			t.Fatalf("process %d wrote %q", process, table)
		}
		if acknowledged[table][id] {
			t.Errorf("%s: ID %s was acknowledged twice", table, id)
		}
		acknowledged[table][id] = true
	})
	customers, orders := len(acknowledged["customers"]), len(acknowledged["orders"])
	for table, ids := range acknowledged {
		auditTable(t, made, table, ids)
	}
	var orphans int
	err = made.QueryRow(`SELECT count(*) FROM orders
		WHERE customer_id NOT IN (SELECT id FROM customers)`).Scan(&orphans)
	if err != nil || orphans != 0 {
		t.Errorf("%d orders refer to no customer: %v", orphans, err)
	}
	t.Logf("%d processes, %d kills: %d customers and %d orders acknowledged, 0 repeats, 0 lost",
		started, kills+apps, customers, orders)
	if orders < 500 {
		t.Errorf("only %d orders: the test shows too little", orders)
	}
}

// auditTable checks that what was acknowledged is there. Every ID is of a generator number that the
// log gave out. One process had that number, and its IDs ascend in the order of creation.
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
		err := db.QueryRow(`SELECT 1 FROM idmint_generator
			WHERE namespace = 'default' AND launch_id = ? AND generator_id = ?`,
			number.Launch(), number.Generator()).Scan(&one)
		if err != nil {
			t.Errorf("launch %d, generator %d is not in the log: %v", number.Launch(),
				number.Generator(), err)
		}
	}
}
