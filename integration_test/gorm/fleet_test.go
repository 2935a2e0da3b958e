package gorm_test

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	gormpostgres "gorm.io/driver/postgres"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/generator"
	"github.com/idmint/idmint/gormid"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/internal/formats"
	"github.com/idmint/idmint/internal/subprocess"
	"github.com/idmint/idmint/launchlog"
	logpostgres "github.com/idmint/idmint/launchlog/postgres"
	"github.com/idmint/idmint/launchlog/storetest"
	"github.com/idmint/idmint/migrations"
)

type (
	fleetCustomer struct {
		ID     idtype.Decimal[fleetCustomer]
		App    string
		Seq    int
		Orders []fleetOrder `gorm:"foreignKey:CustomerID"`
	}
	fleetOrder struct {
		ID         idtype.Decimal[fleetOrder]
		CustomerID idtype.Decimal[fleetCustomer] `gorm:"not null"`
		App        string
		Seq        int // counts the orders of the app as it creates them
	}
)

func (fleetCustomer) TableName() string { return "customers" }
func (fleetOrder) TableName() string    { return "orders" }

func openFleet(source string) (*launchlog.Log, *gorm.DB, error) {
	store, err := logpostgres.Open(context.Background(), source)
	if err != nil {
		return nil, nil, err
	}
	log, err := launchlog.New(store, nil)
	if err != nil {
		return nil, nil, err
	}
	db, err := gorm.Open(gormpostgres.Open(source), &gorm.Config{Logger: logger.Discard})
	return log, db, err
}

// fleetApp is a process: it takes its generator number from the log, creates customers with orders,
// and prints the IDs that the database has acknowledged, until it is killed.
func fleetApp(args []string) error {
	name := args[1]
	launch, err := strconv.Atoi(args[2])
	if err != nil {
		return err
	}
	log, db, err := openFleet(args[0])
	if err != nil {
		return err
	}
	gen, err := generator.NewDecimal(log.Generators(launch))
	if err != nil {
		return err
	}
	if err := db.Use(gormid.New(gormid.Use(gen))); err != nil {
		return err
	}
	for customers, seq := 0, 0; ; customers++ {
		c := fleetCustomer{App: name, Seq: customers}
		for range rand.IntN(4) {
			seq++
			c.Orders = append(c.Orders, fleetOrder{App: name, Seq: seq})
		}
		if err := db.Create(&c).Error; err != nil {
			return err
		}
		line := "customers " + c.ID.String()
		for _, o := range c.Orders {
			line += " orders " + o.ID.String()
		}
		fmt.Println(line)
	}
}

// TestFleet has apps of several launches insert into the same tables. Each is killed after some of
// its customers, and started again. Then what the database holds is compared with what it has
// acknowledged.
func TestFleet(t *testing.T) {
	t.Parallel()
	const apps, lives, launches = 4, 4, 3
	d := dbtest.New(t, databases.Postgres)
	_, _, err := migrations.Up(t.Context(), dbtest.Open(t, d), migrations.Postgres)
	try(t, err)
	log, db, err := openFleet(d.Source())
	try(t, err)
	pool, err := db.DB()
	try(t, err)
	defer pool.Close()
	try(t, db.AutoMigrate(&fleetCustomer{}, &fleetOrder{}))
	for i := range launches {
		_, err := log.Start(t.Context(), storetest.Request(fmt.Sprint("deployment ", i)))
		try(t, err)
	}

	var mu sync.Mutex // guards acknowledged
	acknowledged := map[string]bool{}
	live := func(process, launch, customers int) error {
		cmd := subprocess.Command("fleet", d.Source(), strconv.Itoa(process), strconv.Itoa(launch))
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		if err := cmd.Start(); err != nil {
			return err
		}
		lines := bufio.NewScanner(out)
		for n := 1; lines.Scan(); n++ {
			words := strings.Fields(lines.Text())
			mu.Lock()
			for i := 0; i+1 < len(words); i += 2 {
				row := words[i] + " " + words[i+1]
				if acknowledged[row] {
					t.Errorf("%s was acknowledged twice", row)
				}
				acknowledged[row] = true
			}
			mu.Unlock()
			if n == customers {
				_ = cmd.Process.Kill() // lines come until then
			}
		}
		if err := cmd.Wait(); cmd.ProcessState.Exited() {
			return fmt.Errorf("a process ended by itself: %v", err)
		}
		return lines.Err()
	}
	var wg sync.WaitGroup
	for app := range apps {
		wg.Go(func() {
			for life := range lives {
				process := 1 + app*lives + life
				if err := live(process, 1+process%launches, 3+7*process%40); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()

	rows := len(acknowledged)
	for _, table := range []string{"customers", "orders"} {
		auditFleet(t, pool, table, acknowledged)
	}
	for row := range acknowledged {
		t.Errorf("%s was acknowledged, and is lost", row)
	}
	var orphans int
	err = pool.QueryRow(`SELECT count(*) FROM orders
		WHERE customer_id NOT IN (SELECT id FROM customers)`).Scan(&orphans)
	if err != nil || orphans != 0 {
		t.Errorf("%d orders refer to no customer: %v", orphans, err)
	}
	t.Logf("%d processes were killed, and %d rows acknowledged", apps*lives, rows)
}

// auditFleet removes what is there from what was acknowledged. Every ID is of a generator number
// that the log gave out. One process had that number, and its IDs ascend in the order of creation.
func auditFleet(t *testing.T, db *sql.DB, table string, acknowledged map[string]bool) {
	t.Helper()
	rows, err := db.Query(`SELECT id, app, seq, EXISTS (SELECT FROM idmint_generator
		WHERE namespace = 'default' AND launch_id = id % 100000
		AND generator_id = id / 100000 % 100000) FROM ` + table + " ORDER BY id")
	try(t, err)
	defer rows.Close()
	type last struct {
		app string
		seq int
	}
	numbers := map[idtype.DecimalID]last{}
	for rows.Next() {
		var id idtype.DecimalID
		var row last
		var logged bool
		try(t, rows.Scan(&id, &row.app, &row.seq, &logged))
		delete(acknowledged, table+" "+id.String())
		number := id % formats.DecimalStep
		before, ok := numbers[number]
		if ok && (before.app != row.app || before.seq >= row.seq) || !logged ||
			id.Validate() != nil || id.IsTest() {
			t.Errorf("%s: %v is %+v, after %+v; in the log: %t", table, id, row, before, logged)
		}
		numbers[number] = row
	}
	try(t, rows.Err())
}
