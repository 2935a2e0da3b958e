/*
 * restore: a store fails over, once, to a copy that lacks the newest steps of a number's counter.
 * The copy has an earlier row, or none. The operator knows a bound that no unit was lent beyond.
 *
 * As in claims.pml, clocks may show any unit, and requests stay in the network for ever.
 */
#ifndef PROCS
#define PROCS 2 /* processes */
#endif
#ifndef UNITS
#define UNITS 4 /* units of time, from 1; 0 is the row that is not there */
#endif
#ifndef OPS
#define OPS 2 /* operations of a process */
#endif
#ifndef RUNNING
#define RUNNING 0 /* the processes run on through the failover */
#endif
#ifndef FLOORONLY
#define FLOORONLY 0 /* the operator raises the floor, and no row; nobody reads the floor again */
#endif

#define none 0
#define forgotten 1 /* nobody runs idmint advance */
#define nofloor 2   /* it raises the rows that are there, and no floor */
#ifndef MUT
#define MUT none
#endif

#define ALL (PROCS * OPS)
#define IDLE 255

typedef Request {
	byte from, lo;
	bool sent, waiting
}
Request request[ALL];
byte value, note, past = 1, stamped; /* the counter; past and stamped: bit u for unit u */
byte floor, bound;
byte ops[PROCS];
bool lost, raised;

hidden byte base, begin, window, ours, repeated;

#define up (!lost || RUNNING || raised || MUT == forgotten)

/* claims: take, and renew: both are a raise from the value that the process has read. */
proctype Client(byte p) {
	byte r;
end:	do
	:: atomic { up && ops[p] < OPS ->
		r = p * OPS + ops[p];
		base = value;
		select(begin : 1 .. UNITS);
		if
		:: begin > base && begin > floor -> /* claims: floor, which is read with the counters */
			request[r].from = base;
			request[r].lo = begin;
			request[r].sent = true;
			request[r].waiting = true;
			ops[p]++
		:: else
		fi
	}
	od
}

/* launchlog: RaiseCounter. Each request has a note of its own. */
proctype Operation(byte r) {
end:	do
	:: atomic { request[r].sent ->
		if
		:: value == request[r].from ->
			value = request[r].lo;
			note = r + 1;
			past = past | (1 << value)
		:: else
		fi;
		ours = value == request[r].lo && note == r + 1;
		if
		:: skip /* nobody hears of it */
		:: request[r].waiting && up ->
			request[r].waiting = false;
			/* claims: fresh reads the floor again after a first row */
			if
			:: ours && (request[r].from > 0 || request[r].lo > floor || FLOORONLY) ->
				/* Invariant repeated: no unit is stamped twice. */
				window = 1 << request[r].lo;
				repeated = (stamped & window) != 0;
				assert(!repeated);
				stamped = stamped | window
			:: else
			fi
		fi
	}
	od
}

/* The copy has any row that was there, or none. The bound is the last unit that was stamped. */
inline failover() {
	select(base : 0 .. UNITS);
	base = ((past & (1 << base)) != 0 -> base : 0);
	for (bound : 1 .. UNITS) {
		if
		:: (stamped >> (bound + 1)) == 0 -> break
		:: else
		fi
	}
	lost = true;
	value = base;
	note = 0;
	for (r : 0 .. ALL - 1) {
		/* a process that is stopped hears of nothing any more */
		request[r].waiting = request[r].waiting && RUNNING
	}
	r = 0
}

/* claims: Advance. It raises the floor first, and then the rows that are there. */
inline raisefloor() {
	floor = (MUT == nofloor -> 0 : bound)
}
inline raiserows() {
	if
	:: !FLOORONLY && value > 0 && value < bound ->
		value = bound;
		note = 0
	:: else
	fi;
	raised = true
}

proctype Operator() {
	byte r;
	atomic { failover() };
	/* requests that were on their way come in between */
	atomic { MUT != forgotten -> raisefloor() };
	atomic { raiserows() }
}

init {
	byte i;
	atomic {
		for (i : 0 .. PROCS - 1) { run Client(i) }
		for (i : 0 .. ALL - 1) { run Operation(i) }
		run Operator();
		i = 0
	}
}
