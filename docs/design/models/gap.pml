/*
 * gap: getting a number back that a clock far ahead has locked.
 *
 * A raise that jumps from a value a to a first unit b records the gap (a, b) in its note, where it
 * is large. The units in between were stamped by nobody, and the number's counter can stamp them no
 * more. They are lent from a second counter, named after the number and the gap. It begins at a and
 * never passes b-1. Each later raise hands the gap on in its note, until a newer one replaces it.
 *
 * As in claims.pml, clocks show anything, a request stays in the network for ever, and what a
 * process has read may be arbitrarily old. So it may lend from the gap of any row that ever was,
 * and it does not matter here how many of the last gaps a note keeps. There is one number. Notes
 * are new per operation, so the answer to a request tells exactly whether it was carried out:
 * claims.pml shows that.
 */
#ifndef PROCS
#define PROCS 2 /* processes */
#endif
#ifndef UNITS
#define UNITS 6 /* units of time, from 1 */
#endif
#ifndef LEN
#define LEN 1 /* units of a window */
#endif
#ifndef OPS
#define OPS 2 /* operations of a process */
#endif
#ifndef LARGE
#define LARGE 1 /* units of a gap that is worth a record */
#endif
#ifndef TORN
#define TORN 0 /* value and note of a row are read one after the other */
#endif
#ifndef FORGETS
#define FORGETS 0 /* invariant forgot does not matter */
#endif
#ifndef ADVANCE
#define ADVANCE 0 /* AdvanceCounter and ReserveNumbers raise the counter and clear its note */
#endif
#ifndef ONENAME
#define ONENAME 0 /* all gaps of the number share one second counter */
#endif

#define none 0
#define gapwide 1   /* the gap begins a unit too early */
#define gapend 2    /* the gap ends a unit too late */
#define noceiling 3 /* the second counter passes the gap's end */
#define unsent 4    /* a gap is lent before the raise that records it is known */
#define reset 5     /* the operator sets the locked counter back to an earlier row */
#define drop 6      /* a raise does not hand the gap on */
#define rollback 7  /* a backup brings an earlier second counter back, and nobody advances it */
#ifndef MUT
#define MUT none
#endif

#define ALL (PROCS * OPS)
#define WIDE (UNITS + 2)
#define size(a, b) ((b) > (a) -> (b) - (a) - 1 : 0)
#define min(a, b) ((a) < (b) -> (a) : (b))
#define bits(a, b) (((1 << ((b) + 1)) - 1) & ~((1 << (a)) - 1)) /* a to b */

typedef Request {
	byte from, lo, to, a, b; /* a, b: the gap in the note, or the one that is lent from */
	bool sent, waiting, second
}
byte value;              /* of the number's counter */
byte gapA[WIDE], gapB[WIDE]; /* by value: the gap in the note of the row with that value */
int past = 1;            /* values that the row had: bit v for v */
byte second[WIDE * WIDE]; /* by gap: the value of the second counter; 0: it is not there */
int stamped;             /* units that somebody stamped */
byte ops[PROCS];
bool waiting[PROCS];
Request request[ALL];

hidden byte known, noted, begin, until, after, before, each, repeated, forgot;
hidden int window;

#define name(a, b) (ONENAME -> 0 : (a) * WIDE + (b))
#define had(v) ((past & (1 << (v))) != 0)

inline send(p, isSecond, base) {
	each = p * OPS + ops[p];
	request[each].from = base;
	request[each].lo = begin;
	request[each].to = until;
	request[each].a = after;
	request[each].b = before;
	request[each].second = isSecond;
	request[each].sent = true;
	request[each].waiting = true;
	waiting[p] = true;
	ops[p]++
}

proctype Client(byte p) {
end:	do
	:: atomic { !waiting[p] && ops[p] < OPS ->
		/* claims: take, claims: renew, of the number's own counter */
		select(known : 0 .. UNITS - LEN);
		select(begin : 1 .. UNITS - LEN + 1);
		noted = known;
		if
		:: TORN -> select(noted : 0 .. UNITS)
		:: else
		fi;
		if
		:: had(known) && had(noted) && begin > known ->
			until = begin + LEN - 1;
			after = (MUT == gapwide && known > 0 -> known - 1 : known);
			before = (MUT == gapend -> begin + 1 : begin);
			if /* claims: noteOf, the gap of this jump or else that of the note that was read */
			:: size(after, before) >= LARGE
			:: else ->
				after = (MUT == drop -> 0 : gapA[noted]);
				before = (MUT == drop -> 0 : gapB[noted])
			fi;
			send(p, false, known)
		:: else
		fi
	}
	:: atomic { !waiting[p] && ops[p] < OPS ->
		/* claims: Free, and claims: take, claims: renew, of the second counter */
		select(known : 0 .. UNITS);
		select(begin : 1 .. UNITS);
		after = gapA[known];
		before = gapB[known];
		if
		:: MUT == unsent ->
			select(each : 0 .. ALL - 1);
			if
			:: request[each].sent && !request[each].second ->
				after = request[each].a;
				before = request[each].b
			:: else
			fi
		:: else
		fi;
		until = (MUT == noceiling -> min(begin + LEN - 1, UNITS) :
			min(begin + LEN - 1, before - 1));
		if
		:: had(known) && size(after, before) > 0 && begin > after && begin <= until &&
			begin > second[name(after, before)] ->
			send(p, true, second[name(after, before)])
		:: else
		fi
	}
	:: atomic { waiting[p] -> /* the context ends, or the process; it may begin anew */
		waiting[p] = false;
		for (each : p * OPS .. p * OPS + OPS - 1) { request[each].waiting = false }
	}
	od
}

#define at(r) (request[r].second -> second[name(request[r].a, request[r].b)] : value)

/* launchlog: RaiseCounter, in the store, and its answer */
proctype Operation(byte i) {
end:	do
	:: atomic { request[i].sent && at(i) == request[i].from ->
		if
		:: request[i].second -> second[name(request[i].a, request[i].b)] = request[i].to
		:: else ->
			/* Invariant forgot: a row that replaces one with a gap has a gap. */
			forgot = !FORGETS && size(gapA[value], gapB[value]) > 0 &&
				size(request[i].a, request[i].b) == 0;
			assert(!forgot);
			value = request[i].to;
			gapA[value] = request[i].a;
			gapB[value] = request[i].b;
			past = past | (1 << value)
		fi;
		if
		:: skip /* nobody hears of it */
		:: request[i].waiting ->
			request[i].waiting = false;
			waiting[i / OPS] = false;
			/* Invariant repeated: no unit of the number is stamped twice. */
			window = bits(request[i].lo, request[i].to);
			repeated = (stamped & window) != 0;
			assert(!repeated);
			stamped = stamped | window
		fi
	}
	od
}

proctype Operator() {
end:	do
	:: atomic { ADVANCE ->
		/* launchlog: Counter.Advance, launchlog: Counter.Reserve; they clear the note */
		select(known : 1 .. UNITS);
		if
		:: known > value ->
			value = known;
			gapA[known] = 0;
			gapB[known] = 0;
			past = past | (1 << known)
		:: else
		fi
	}
	:: atomic { MUT == rollback && size(gapA[value], gapB[value]) > 0 ->
		second[name(gapA[value], gapB[value])] = 0
	}
	:: atomic { MUT == reset ->
		select(known : 0 .. UNITS);
		if
		:: had(known) -> value = known
		:: else
		fi
	}
	od
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
