/*
 * pool: what the rules of taking are for, beyond uniqueness. True time passes here. A number is
 * free once its counter lies a quiet time behind. Good processes have clocks that are off by SKEW
 * at most, and renew in time. One process may have a clock that stands far ahead. To it every
 * number looks free. How many numbers does it lock, and does a live process lose its own?
 *
 * Good processes hear of each outcome at once: claims.pml has the network. The one with the wrong
 * clock does not.
 */
#ifndef GOODS
#define GOODS 2 /* processes with good clocks: 1 or 2 */
#endif
#ifndef NUMS
#define NUMS 2 /* numbers of the pool */
#endif
#ifndef TIME
#define TIME 9 /* units of true time */
#endif
#ifndef LEN
#define LEN 2 /* units of a window */
#endif
#ifndef SKEW
#define SKEW 1 /* good clocks are off by so many units at most */
#endif
#ifndef LATE
#define LATE 1 /* a renewal is done at latest so many units after the window's end */
#endif
#ifndef QUIET
#define QUIET 3 /* units */
#endif
#ifndef CRASHES
#define CRASHES 2 /* restarts of good processes */
#endif
#ifndef SAME
#define SAME 0 /* good processes run under one holder's name */
#endif
#ifndef BAD
#define BAD 0 /* there is a process whose clock stands far ahead */
#endif
#ifndef BADCRASHES
#define BADCRASHES 2 /* restarts of it */
#endif
#ifndef FLIGHT
#define FLIGHT 0 /* it may die while a request of its own is on its way */
#endif
#ifndef TRIES
#define TRIES 6 /* requests of it */
#endif
#ifndef LOCKS
#define LOCKS 1 /* numbers that it may lock */
#endif

/* What the process with the wrong clock does. */
#define abandon 1   /* an answer is lost: it takes another number */
#define settles 2   /* it runs the same step again until it is known */
#define mine 3      /* and after a restart it takes the number with its name, if there is one */
#define twice 4     /* and only where its value rose twice, it takes another */
#define guardtake 5 /* it takes no number while its clock is ahead of the store's */
#define guardjump 6 /* claims: checkClock; no raise by more than AHEAD without a comparison */
#define guard 7     /* it compares its clock with the store's before each raise */
#ifndef RULE
#define RULE guard
#endif

#define none 0
#define atonce 1  /* after a restart the own number is raised at once, and not waited for */
#define noquiet 2 /* a number is free at the end of its window */
#ifndef MUT
#define MUT none
#endif

#define FAR 100
#define AHEAD 40
#define IDLE 255

typedef Number {
	byte value, holder; /* the row */
	byte flight /* the value that a request of the wrong clock compares, and 1; 0: none */
}
typedef Good {
	byte num, value;     /* its number and until when; IDLE: none */
	byte watched, until; /* after a restart: a number with its name, and the value that it had */
	byte shunned         /* numbers that somebody else has under its name: bit n for n */
}
Number number[NUMS];
Good good[2];
byte now = SKEW + 1;
byte crashes;

/* The process with the wrong clock. */
#define bidle 0
#define bowns 1
#define bdoubt 2
#define bwatch 3
byte bad, badnum, baduntil, badcrashes, tries;
bool badrose;

hidden byte picked, reading, begin, each, found, theft, pushed, locked;

#define name(p) (SAME -> 1 : 1 + (p))
#define badname 9
#define holds(p) (good[p].num != IDLE)
#define alive(p) (holds(p) && number[good[p].num].value == good[p].value)
#define free(n) (number[n].value == 0 || \
	number[n].value + (MUT == noquiet -> 1 : QUIET) <= reading)

inline look() { select(reading : now - SKEW .. now + SKEW) }

inline take(p, stolen) {
	/* Invariant theft: nobody takes the number of a process that lives and renews in time. */
	for (each : 0 .. 1) {
		theft = stolen && each != p && alive(each) && good[each].num == picked;
		assert(!theft)
	}
	begin = (reading > number[picked].value -> reading : number[picked].value + 1);
	number[picked].value = begin + LEN - 1;
	number[picked].holder = name(p);
	/* Invariant pushed: no good process raises a number far beyond the time. */
	pushed = number[picked].value > now + SKEW + LEN + LEN / 2;
	assert(!pushed);
	good[p].num = picked;
	good[p].value = number[picked].value;
	good[p].watched = IDLE;
	good[p].until = 0
}

/* has: a number that names the process, in its reach, and not shunned */
inline own(p) {
	found = IDLE;
	for (each : 0 .. NUMS - 1) {
		if
		:: number[each].holder == name(p) && (good[p].shunned & (1 << each)) == 0 &&
			number[each].value <= reading + LEN + LEN / 2 + 2 * SKEW -> found = each
		:: else
		fi
	}
}

proctype Process(byte p) {
end:	do
	:: atomic { alive(p) -> /* claims: renew, in the second half of the window */
		look();
		picked = good[p].num;
		if
		:: number[picked].value <= reading + LEN / 2 -> take(p, false)
		:: else
		fi
	}
	:: atomic { holds(p) && !alive(p) -> good[p].num = IDLE; good[p].value = 0 } /* it lost it */
	:: atomic { !holds(p) && good[p].watched == IDLE -> /* claims: take */
		look();
		own(p);
		if
		:: found != IDLE && MUT == atonce -> picked = found; take(p, false)
		:: found != IDLE && MUT != atonce -> /* it waits until its clock has passed the value */
			good[p].watched = found;
			good[p].until = number[found].value
		:: found == IDLE ->
			select(picked : 0 .. NUMS - 1);
			if
			:: free(picked) -> take(p, true)
			:: else
			fi
		fi
	}
	:: atomic { good[p].watched != IDLE -> /* claims: mine, after a restart */
		look();
		picked = good[p].watched;
		if
		:: number[picked].value != good[p].until -> /* somebody else lives under this name */
			good[p].shunned = good[p].shunned | (1 << picked);
			good[p].watched = IDLE;
			good[p].until = 0
		:: number[picked].value == good[p].until && reading > number[picked].value -> take(p, true)
		:: else
		fi
	}
	:: atomic { holds(p) && crashes < CRASHES -> /* a restart under the same name */
		crashes++;
		good[p].num = IDLE;
		good[p].value = 0;
		good[p].shunned = 0
	}
	od
}

#define waits(p) (alive(p) && now + 1 > good[p].value + LATE)

proctype Clock() {
end:	do
	:: atomic { now < TIME && !waits(0) && !waits(1) -> now++ }
	od
}

inline count() {
	/* Invariant locked: the wrong clock has locked LOCKS numbers at most. */
	locked = 0;
	for (each : 0 .. NUMS - 1) { locked = locked + (number[each].value >= FAR -> 1 : 0) }
	locked = locked > LOCKS;
	assert(!locked)
}

/* has: whether a number names the wrong clock's process */
inline badmine() {
	found = false;
	for (each : 0 .. NUMS - 1) {
		if
		:: number[each].holder == badname && !(badrose && each == badnum) -> found = true
		:: else
		fi
	}
}

inline badsend() {
	badnum = picked;
	badrose = false;
	baduntil = 0;
	number[picked].flight = number[picked].value + 1;
	tries++;
	bad = bdoubt
}

proctype Bad() {
end:	do
	:: atomic { bad == bidle && tries < TRIES && RULE < guardtake -> /* claims: take */
		select(picked : 0 .. NUMS - 1);
		badmine();
		if
		:: RULE >= mine && found && !badrose ->
			if
			:: number[picked].holder == badname && !(badrose && picked == badnum) -> /* it waits */
				badnum = picked;
				badrose = false;
				baduntil = number[picked].value;
				bad = bwatch
			:: else
			fi
		:: else ->
			if
			:: number[picked].value < FAR -> badsend()
			:: else
			fi
		fi
	}
	:: atomic { bad == bwatch && tries < TRIES -> /* claims: mine */
		picked = badnum;
		if
		:: number[picked].value == baduntil -> badsend()
		:: number[picked].value != baduntil && RULE == twice && !badrose ->
			badrose = true;
			baduntil = number[picked].value
		:: else -> badrose = true; baduntil = 0; bad = bidle
		fi
	}
	:: atomic { bad == bowns && tries < TRIES && RULE != guard -> /* claims: renew */
		picked = badnum;
		badsend()
	}
	:: atomic { true -> /* a request is carried out */
		select(picked : 0 .. NUMS - 1);
		if
		:: number[picked].flight != 0 && number[picked].value == number[picked].flight - 1 ->
			number[picked].flight = 0;
			number[picked].value = (RULE == guardjump -> number[picked].value + AHEAD :
				FAR + tries * LEN);
			number[picked].holder = badname;
			count()
		:: number[picked].flight != 0 && number[picked].value != number[picked].flight - 1 ->
			number[picked].flight = 0 /* it comes too late */
		:: else
		fi
	}
	:: atomic { bad == bdoubt && number[badnum].flight == 0 -> /* claims: settle */
		if
		:: number[badnum].holder == badname -> bad = bowns
		:: else -> bad = bidle
		fi
	}
	:: atomic { bad == bdoubt && RULE == abandon -> bad = bidle }
	:: atomic { bad != bidle && badcrashes < BADCRASHES &&
		(FLIGHT || number[badnum].flight == 0) -> /* a restart */
		badcrashes++;
		bad = bidle;
		badrose = false;
		baduntil = 0;
		badnum = 0
	}
	od
}

init {
	byte i;
	atomic {
		for (i : 0 .. 1) {
			good[i].num = IDLE;
			good[i].watched = IDLE;
			if
			:: i < GOODS -> run Process(i)
			:: else
			fi
		}
		if
		:: BAD -> /* its clock was good when it took its number */
			number[NUMS - 1].value = now;
			number[NUMS - 1].holder = badname;
			bad = bowns;
			badnum = NUMS - 1;
			run Bad()
		:: else
		fi;
		run Clock();
		i = 0
	}
}
