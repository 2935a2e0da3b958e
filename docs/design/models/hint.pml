/*
 * hint: decimal generators begin above a hint.
 *
 * The hint is anything at any time: lost, late, stale, raised by a bad client, beyond the range. No
 * ID may be repeated, and no generator number be used up by it. A generator has a pair of launch
 * and generator number of its own from the launch log. It counts up within the pair, and takes a
 * new one at the end.
 */
#ifndef GENERATORS
#define GENERATORS 2
#endif
#ifndef MAX
#define MAX 5 /* the last counter of a pair */
#endif
#ifndef ROOM
#define ROOM 2 /* counters that a hint must leave */
#endif
#ifndef PAIRS
#define PAIRS 3
#endif
#ifndef HINTS
#define HINTS 7 /* the highest hint */
#endif
#ifndef FLOOR
#define FLOOR 0 /* a pair that is used up begins again at 1, up to where it began first */
#endif

#define none 0
#define shared 1     /* all generators have one pair */
#define wrap 2       /* a pair that is used up begins again at 1, up to the end */
#define noclamp 3    /* a hint may leave less than ROOM */
#define overflow 4   /* a hint beyond the range is used, and the ID's digits run over */
#define moveload 5   /* a generator moves up by a load and a store */
#define moveassign 6 /* it moves to the hint, also down */
#define moveroom 7   /* it moves into the last ROOM counters */
#ifndef MUT
#define MUT none
#endif

#define IDLE 255

typedef Generator {
	byte pair;   /* from 1; 0: none yet */
	byte last;   /* the counter of its last ID */
	byte start;  /* the counter of the pair's first ID */
	byte seen;   /* moveload: what the load saw */
	bool wrapped
}
Generator generator[GENERATORS];
byte pairs;             /* that were taken */
byte minted[PAIRS + 1]; /* by pair: IDs */
int used[PAIRS + 1];    /* by pair: counters of its IDs, bit c for c */

hidden byte hint, begin, digits, count, repeated, burnt;

#define fits(h) ((h) <= MAX - ROOM)
#define limit(g) (MUT == overflow && generator[g].last > MAX -> generator[g].last + 1 : \
	(generator[g].wrapped -> generator[g].start - 1 : MAX))
#define wraps (MUT == wrap || FLOOR)

proctype Decimal(byte g) {
end:	do
	:: atomic { pairs < PAIRS && (generator[g].pair == 0 || generator[g].last == limit(g)) &&
		(!wraps || generator[g].pair == 0 || generator[g].wrapped ||
			generator[g].start == 1 && MUT != wrap) ->
		/* decimal: begin. A new pair begins above the hint where that leaves room, else at 1 */
		/* Invariant burnt: a pair that is used up has given ROOM IDs. */
		burnt = generator[g].pair != 0 && minted[generator[g].pair] < ROOM;
		assert(!burnt);
		select(hint : 0 .. HINTS);
		begin = (fits(hint) || MUT == overflow -> hint + 1 : 1);
		if
		:: MUT == noclamp -> begin = (hint >= MAX -> MAX + 1 : hint + 1)
		:: else
		fi;
		pairs++;
		generator[g].pair = (MUT == shared -> 1 : pairs);
		generator[g].last = begin - 1;
		generator[g].start = begin;
		generator[g].seen = IDLE;
		generator[g].wrapped = false
	}
	:: atomic { generator[g].pair != 0 && generator[g].last < limit(g) &&
		generator[g].last < 2 * MAX -> /* decimal: Next adds one */
		generator[g].last++;
		digits = generator[g].pair;
		count = generator[g].last;
		if
		:: count > MAX -> /* the digits of another pair */
			digits = digits % PAIRS + 1;
			count = count - MAX
		:: else
		fi;
		/* Invariant repeated: no ID is minted twice. */
		repeated = (used[digits] & (1 << count)) != 0;
		assert(!repeated);
		used[digits] = used[digits] | (1 << count);
		minted[generator[g].pair]++
	}
	:: atomic { generator[g].pair != 0 && !generator[g].wrapped && generator[g].last < MAX &&
		MUT != moveload ->
		/* decimal: advance. It moves up, by a compare-and-swap on the word that Next adds to */
		select(hint : 0 .. HINTS);
		if
		:: MUT == moveassign && hint <= MAX ||
			MUT == moveroom && hint <= MAX && hint > generator[g].last ||
			fits(hint) && hint > generator[g].last -> generator[g].last = hint
		:: else
		fi
	}
	:: atomic { MUT == moveload && generator[g].pair != 0 && generator[g].seen == IDLE ->
		generator[g].seen = generator[g].last }
	:: atomic { MUT == moveload && generator[g].pair != 0 && generator[g].seen != IDLE ->
		select(hint : 0 .. HINTS);
		if
		:: fits(hint) && hint > generator[g].seen ->
			generator[g].last = hint;
			generator[g].seen = IDLE
		:: else
		fi
	}
	:: atomic { wraps && generator[g].pair != 0 && generator[g].last == MAX &&
		!generator[g].wrapped && (MUT == wrap || generator[g].start > 1) ->
		generator[g].last = 0;
		generator[g].wrapped = FLOOR
	}
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. GENERATORS - 1) {
			generator[i].last = MAX;
			generator[i].start = 1;
			generator[i].seen = IDLE;
			run Decimal(i)
		}
		i = 0
	}
}
