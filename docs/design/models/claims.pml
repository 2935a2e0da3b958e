/*
 * Claims are numbers that processes lend from counters.
 *
 * A number's counter stands at the last unit of time that the number may have stamped. Who wants
 * the units up to `to` raises the counter from the value that it knows, `from`, by one
 * compare-and-swap. The row then has the operation's note. A process whose note is there with its
 * value owns the units in between.
 *
 * What is left out makes the model stronger:
 * - Clocks are no variables. Wherever a process looks at its clock it may read any unit: ahead,
 *   behind, stepped, frozen. So `lo`, the later of the clock and from+1, is any unit above from.
 * - No rule says which number is free. Any process may take any number at any time: after a quiet
 *   time or not, its own of before a restart or another's. pool.pml shows what the rules are for.
 * - A request, once sent, stays in the network for ever. The store may carry it out at any time and
 *   any number of times: late, after its sender gave up or died, and again. So a rerun is nothing
 *   but the same request once more, and a lost answer one that is carried out and not heard of.
 * - Who learns that a window is its own stamps all of it at once.
 */
#ifndef PROCS
#define PROCS 2 /* processes */
#endif
#ifndef NUMS
#define NUMS 2 /* numbers of the pool */
#endif
#ifndef UNITS
#define UNITS 4 /* units of time, from 1; 0 is the counter that is not there */
#endif
#ifndef LEN
#define LEN 1 /* units of a window */
#endif
#ifndef OPS
#define OPS 2 /* operations of a process */
#endif
#ifndef CRASHES
#define CRASHES 1 /* restarts of a process; it forgets everything but its name */
#endif
#ifndef STALE
#define STALE 1 /* listings may show any value that a counter ever had */
#endif
#ifndef OVERLAP
#define OVERLAP 0 /* a process may begin an operation while others of its own are on their way */
#endif
#ifndef SAME
#define SAME 1 /* all processes run under one holder's name */
#endif
#ifndef ADVANCE
#define ADVANCE 0 /* AdvanceCounter and ReserveNumbers may raise the counters too */
#endif

#define none 0
#define noteignored 1 /* "ours" where the value is to, whatever the note */
#define noteonly 2    /* a note per start of a process; "ours" where it is there */
#define atleast 3     /* "ours" where the value is to or above */
#define nocompare 4   /* the store does not compare */
#define readwrite 5   /* the store reads and compares in one step, and writes in another */
#define clockonly 6   /* a window begins at the clock, also where that is not above from */
#define mintpast 7    /* a unit beyond the window is stamped */
#define hope 8        /* who gives up takes the window for its own */
#define resume 9      /* after a restart, the last unit of the own row is used again */
#define lower 10      /* an operator or a clean-up sets a counter back by one */
#define restore 11    /* a backup brings an earlier row back, and nobody advances it */
#define procnote 12   /* a note per start of a process, not per operation */
#define holdernote 13 /* a note per holder */
#ifndef MUT
#define MUT none
#endif

#define ALL (PROCS * OPS)
#define IDLE 255 /* no value, no operation */

typedef Counter {
	byte value, note; /* the row */
	byte holder;      /* of the row: a name and 1, or 0 */
	byte past;        /* values that the row had: bit v for v */
	byte stamped      /* units that somebody stamped */
}
typedef Request {
	byte num, from, lo, note;
	bool sent, waiting, checked
}
typedef Process {
	byte num, value; /* the number that it owns, and up to when; IDLE: none */
	byte ops, waits, crashes
}
Counter counter[NUMS];
Request request[ALL];
Process process[PROCS];

hidden byte picked, begin, base; /* scratch: no part of a state */
hidden int window;
hidden byte ours, repeated;

#define to(r) (request[r].lo + LEN - 1)
#define later(a, b) ((a) > (b) -> (a) : (b))
#define name(p) (SAME -> 1 : (p) + 1)
#define bits(a, b) (((1 << ((b) + 1)) - 1) & ~((1 << (a)) - 1)) /* a to b */

/* Invariant repeated: no unit of a number is stamped twice. */
inline stamp(i, a, b) {
	window = bits(a, b);
	repeated = (counter[i].stamped & window) != 0;
	assert(!repeated);
	counter[i].stamped = counter[i].stamped | window
}

/* launchlog: Counter.Raise sends. r is the process's next request. */
inline send(p, r) {
	request[r].num = picked;
	request[r].from = base;
	request[r].lo = begin;
	request[r].note = (MUT == procnote || MUT == noteonly ->
		1 + p * (CRASHES + 1) + process[p].crashes :
		(MUT == holdernote -> name(p) : 1 + r)); /* launchlog: NewNote */
	request[r].sent = true;
	request[r].waiting = true;
	process[p].waits++;
	process[p].ops++
}

/* launchlog: RaiseCounter, in the store. The comparison and the write are one step. */
inline raise(r) {
	picked = request[r].num;
	if
	:: counter[picked].value == request[r].from || MUT == nocompare ->
		counter[picked].value = to(r);
		counter[picked].note = request[r].note;
		counter[picked].holder = name(r / OPS);
		counter[picked].past = counter[picked].past | (1 << to(r))
	:: else
	fi
}

/* launchlog: Raise.Done, by the row that the store answered with. */
inline done(r) {
	ours = (MUT == noteonly || counter[picked].value == to(r) ||
			MUT == atleast && counter[picked].value >= to(r)) &&
		(MUT == noteignored || MUT == atleast || counter[picked].note == request[r].note)
}

inline forget(p) {
	process[p].num = IDLE;
	process[p].value = 0
}

/* claims: settle. The answer arrives, and the number is the process's own now, or lost. */
inline settle(r) {
	request[r].waiting = false;
	process[r / OPS].waits--;
	if
	:: ours ->
		stamp(picked, request[r].lo, to(r) + (MUT == mintpast -> 1 : 0));
		process[r / OPS].num = picked;
		process[r / OPS].value = to(r)
	:: else -> forget(r / OPS)
	fi
}

#define first(p) ((p) * OPS)
#define next(p) ((p) * OPS + process[p].ops)
#define ready(p) (process[p].ops < OPS && (OVERLAP || process[p].waits == 0))

proctype Client(byte p) {
	byte r;
end:	do
	:: atomic { ready(p) && process[p].num == IDLE -> /* claims: take, from a listing */
		select(picked : 0 .. NUMS - 1);
		select(base : 0 .. UNITS - LEN);
		select(begin : 1 .. UNITS - LEN + 1);
		if
		:: (STALE -> (counter[picked].past & (1 << base)) != 0 :
				counter[picked].value == base) &&
			(begin > base || MUT == clockonly) -> send(p, next(p))
		:: else
		fi
	}
	:: atomic { ready(p) && process[p].num != IDLE -> /* claims: renew */
		picked = process[p].num;
		base = process[p].value;
		select(begin : 1 .. UNITS - LEN + 1);
		if
		:: begin > base || MUT == clockonly && begin + LEN > base + 1 -> send(p, next(p))
		:: else
		fi
	}
	:: atomic { process[p].crashes < CRASHES -> /* kill -9 and a start under the same name */
		process[p].crashes++;
		process[p].waits = 0;
		forget(p);
		for (r : first(p) .. first(p) + OPS - 1) { request[r].waiting = false }
		r = 0;
		if
		:: MUT == resume ->
			select(picked : 0 .. NUMS - 1);
			if
			:: counter[picked].holder == name(p) ->
				stamp(picked, counter[picked].value, counter[picked].value)
			:: else
			fi
		:: else
		fi
	}
	od
}

/* A request, and the call that waits for it. */
proctype Operation(byte r) {
end:	do
	:: atomic { request[r].sent && MUT != readwrite ->
		raise(r);
		if
		:: skip /* nobody hears of it */
		:: request[r].waiting -> done(r); settle(r)
		fi
	}
	:: atomic { request[r].waiting -> /* the caller's context ends; nothing of it is used */
		request[r].waiting = false;
		process[r / OPS].waits--;
		forget(r / OPS);
		if
		:: MUT == hope -> stamp(request[r].num, request[r].lo, to(r))
		:: else
		fi
	}
	:: atomic { MUT == readwrite && request[r].sent && !request[r].checked &&
		counter[request[r].num].value == request[r].from -> request[r].checked = true }
	:: atomic { MUT == readwrite && request[r].checked && request[r].waiting ->
		picked = request[r].num;
		counter[picked].value = to(r);
		counter[picked].note = request[r].note;
		ours = true;
		settle(r)
	}
	od
}

/* Whoever else may write the counters' rows. */
proctype Operator() {
end:	do
	:: atomic { ADVANCE ->
		/* launchlog: Counter.Advance, launchlog: Counter.Reserve; they clear the note */
		select(picked : 0 .. NUMS - 1);
		select(base : 1 .. UNITS);
		if
		:: base > counter[picked].value ->
			counter[picked].value = base;
			counter[picked].note = 0;
			counter[picked].holder = 0;
			counter[picked].past = counter[picked].past | (1 << base)
		:: else
		fi
	}
	:: atomic { MUT == lower || MUT == restore ->
		select(picked : 0 .. NUMS - 1);
		select(base : 0 .. UNITS);
		if
		:: base < counter[picked].value &&
			(MUT == restore -> (counter[picked].past & (1 << base)) != 0 :
				base + 1 == counter[picked].value) -> counter[picked].value = base
		:: else
		fi
	}
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. NUMS - 1) { counter[i].past = 1 }
		for (i : 0 .. PROCS - 1) { process[i].num = IDLE; run Client(i) }
		for (i : 0 .. ALL - 1) { run Operation(i) }
		run Operator();
		i = 0
	}
}
