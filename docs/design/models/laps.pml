/*
 * laps: launch numbers go on without end, and their digits come again. A launch whose digits another
 * one had before ends that one, and goes on with its generator numbers. No pair of digits and
 * generator number is handed out twice.
 *
 * Launch n has the digits (n - 1) % DIGITS. A log is trimmed, backed up, and restored, up to RESTORES
 * times. The operator then advances it to a launch that is no lower than any that was acknowledged.
 * With PARTS an advance is in parts, and starts come between them, which read before it began too.
 * With RANGES the log gives up its last digits, before a launch has had them, to a log of another
 * region.
 *
 * A process is not in it: one that has a number may use it at any time.
 */
#ifndef DIGITS
#define DIGITS 2
#endif
#ifndef NUMBERS
#define NUMBERS 2 /* generator numbers of each digits */
#endif
#ifndef LAUNCHES
#define LAUNCHES 5
#endif
#ifndef RESTORES
#define RESTORES 2
#endif
#ifndef RANGES
#define RANGES 0
#endif
#ifndef DOUBT
#define DOUBT 0 /* so many answers of claims may be lost */
#endif

#ifndef PARTS
#define PARTS 0 /* launches lie in partitions: an advance ends them one by one, beside starts */
#endif

#define none 0
#define anew 1        /* a launch counts its generator numbers from 0 */
#define together 2    /* the launch that had the digits runs on */
#define eager 3       /* its next number is read before it ends */
#define gaps 4        /* digits of a launch that an advance skipped are taken for new */
#define whole 5       /* so are those of a launch that an advance has ended */
#define short 6       /* the operator advances to one launch too few */
#define forgotten 7   /* nobody advances */
#define trimlowers 8  /* a trim sets the next number to what the rows still show */
#define wide 9        /* an advance does not state the range again */
#define late 10       /* digits are given up that a launch has had */
#define anytoken 11   /* a claim in doubt takes another claim's row for its own */
#define meets 12      /* launches that an advance is still to end pass their digits */
#ifndef MUT
#define MUT none
#endif

#define NONE 0
#define RUNNING 1
#define ENDED 2
#define LOST 3 /* ended by an advance */
#define HANDED 4 /* ended by a start, for its own launch */

typedef Log {
	byte last;               /* launch */
	byte advanced;           /* the last launch before the newest advance, where that has parts */
	byte digits;             /* that are its own: 0 .. digits - 1 */
	byte st[LAUNCHES + 1];   /* of launches */
	byte next[LAUNCHES + 1]; /* generator number */
	byte rows[LAUNCHES + 1]; /* of claims, by bits */
	byte token, number, which /* the row of a claim in doubt: 1 + its launch, and which claim it was */
}
Log log, backup;
byte acked[DIGITS]; /* what was ever handed out: bit g for g */
byte other;         /* the next number of the last digits in the other region's log */
byte truth;         /* the highest launch that was acknowledged */
byte heir, base, was; /* a start that has ended the launch before: its launch, number, and last */
byte restores, doubt, doubts; /* doubt: the launch whose claim is in doubt; doubts: how many were */
bool saved, restored, pending, given;

hidden byte ln, dd, gg, target, repeated;

#define works (!restored || MUT == forgotten)
#define meanwhile (works || pending)
#define lost(ln) (ln <= log.advanced && MUT != meets && \
	(log.st[ln] == RUNNING || log.st[ln] == HANDED))
#define at(ln) (((ln) - 1) % DIGITS)
#define before(ln) (ln > DIGITS -> ln - DIGITS : 0)
#define fresh(ln) (ln <= DIGITS && at(ln) < log.digits || \
	MUT == gaps && ln > DIGITS && log.st[before(ln)] == NONE)
#define passes(ln) (ln > DIGITS && log.next[before(ln)] < NUMBERS && !lost(before(ln)) && \
	(log.st[before(ln)] == RUNNING || log.st[before(ln)] == ENDED || log.st[before(ln)] == HANDED || \
	MUT == whole && log.st[before(ln)] == LOST))

inline copy(a, b) {
	a.last = b.last;
	a.advanced = b.advanced;
	a.digits = b.digits;
	a.token = b.token;
	a.number = b.number;
	a.which = b.which;
	for (ln : 0 .. LAUNCHES) {
		a.st[ln] = b.st[ln];
		a.next[ln] = b.next[ln];
		a.rows[ln] = b.rows[ln]
	}
	ln = 0
}

/* Invariant repeated: no pair is handed out twice. */
inline hand(digits, number) {
	repeated = (acked[digits] >> (number)) & 1;
	assert(!repeated);
	acked[digits] = acked[digits] | (1 << (number))
}

inline take() {
	gg = log.next[ln];
	log.next[ln]++;
	log.rows[ln] = log.rows[ln] | (1 << gg)
}

/* the launch that the next start is to make, or LAUNCHES + 1 */
inline choose() {
	ln = log.last + 1;
	do
	:: ln <= LAUNCHES && !fresh(ln) && !passes(ln) -> ln++
	:: else -> break
	od
}

inline begin(number) {
	log.last = ln;
	log.st[ln] = RUNNING;
	log.next[ln] = number;
	truth = (log.last > truth -> log.last : truth)
}

init {
	log.digits = DIGITS;
	do
	/* a start, in one step where nobody had the digits before */
	:: atomic { meanwhile && heir == 0 && log.last < LAUNCHES ->
		choose();
		if
		:: ln > LAUNCHES -> skip
		:: else ->
			if
			:: fresh(ln) || MUT == anew -> begin(0)
			:: else ->
				base = log.next[before(ln)];
				if
				:: MUT != together && MUT != eager && log.st[before(ln)] == RUNNING ->
					log.st[before(ln)] = (PARTS -> HANDED : ENDED)
				:: else
				fi;
				heir = ln;
				was = log.last
			fi
		fi;
		ln = 0
	}
	:: atomic { meanwhile && heir > 0 ->
		ln = heir;
		if
		:: was == log.last ->
			log.st[before(ln)] = (MUT == eager -> ENDED : log.st[before(ln)]);
			begin(base)
		:: else
		fi;
		ln = 0; heir = 0; base = 0; was = 0
	}
	/* a start read before an advance began, and comes to make no launch */
	:: atomic { PARTS ->
		select(ln : 1 .. LAUNCHES);
		log.st[ln] = (log.st[ln] == RUNNING -> HANDED : log.st[ln]);
		ln = 0
	}
	/* a claim, whose answer may be lost */
	:: atomic { meanwhile ->
		select(ln : 1 .. LAUNCHES);
		if
		:: log.st[ln] == RUNNING && log.next[ln] < NUMBERS && (works || ln > log.advanced) ->
			take();
			if
			:: hand(at(ln), gg)
			:: doubts < DOUBT && doubt == 0 ->
				doubt = ln;
				doubts++;
				log.which = doubts;
				log.token = ln;
				log.number = gg
			fi
		:: else
		fi;
		ln = 0; gg = 0
	}
	/* the claim in doubt is run again: its row is there, or it takes another number */
	:: atomic { works && doubt > 0 ->
		ln = doubt;
		if
		:: log.token > 0 && (log.which == doubts || MUT == anytoken) ->
			ln = log.token;
			gg = log.number;
			hand(at(ln), gg)
		:: else ->
			if
			:: log.st[ln] == RUNNING && log.next[ln] < NUMBERS ->
				take();
				hand(at(ln), gg)
			:: else
			fi
		fi;
		doubt = 0; log.token = 0; log.number = 0; log.which = 0; ln = 0; gg = 0
	}
	/* an end */
	:: atomic { works ->
		select(ln : 1 .. LAUNCHES);
		log.st[ln] = (log.st[ln] == RUNNING -> ENDED : log.st[ln]);
		ln = 0
	}
	/* a trim of any row */
	:: atomic { works ->
		select(ln : 1 .. LAUNCHES);
		select(gg : 0 .. NUMBERS - 1);
		dd = (log.rows[ln] >> gg) & 1;
		if
		:: dd ->
			log.rows[ln] = log.rows[ln] & (255 - (1 << gg));
			if
			:: log.token == ln && log.number == gg -> log.token = 0; log.number = 0; log.which = 0
			:: else
			fi;
			if
			:: MUT == trimlowers ->
				log.next[ln] = 0;
				for (dd : 0 .. NUMBERS - 1) {
					log.next[ln] = (((log.rows[ln] >> dd) & 1) -> dd + 1 : log.next[ln])
				}
			:: else
			fi
		:: else
		fi;
		ln = 0; dd = 0; gg = 0
	}
	:: atomic { works -> copy(backup, log); saved = true }
	:: atomic { saved && restores < RESTORES ->
		copy(log, backup);
		restored = true;
		pending = false;
		heir = 0; base = 0; was = 0;
		restores++
	}
	/* an advance, beyond every launch that is known of */
	:: atomic { restored && !pending && MUT != forgotten ->
		target = (MUT == short && truth > 0 -> truth - 1 : truth);
		if
		:: skip
		:: target < LAUNCHES -> target++
		fi;
		target = (target < log.last -> log.last : target);
		log.digits = (given && MUT != wide -> DIGITS - 1 : log.digits);
		if
		:: PARTS ->
			log.advanced = log.last;
			pending = true;
			heir = 0; base = 0; was = 0
		:: else ->
			for (ln : 1 .. LAUNCHES) {
				log.st[ln] = (log.st[ln] == RUNNING -> LOST : log.st[ln])
			}
			restored = false
		fi;
		log.last = target;
		ln = 0; target = 0
	}
	/* and its parts */
	:: atomic { pending ->
		ln = 1;
		do
		:: ln <= log.advanced && log.st[ln] != RUNNING -> ln++
		:: else -> break
		od;
		if
		:: ln <= log.advanced -> log.st[ln] = LOST
		:: else -> pending = false; restored = false
		fi;
		ln = 0
	}
	/* the last digits go to another region */
	:: atomic { RANGES && works && !given && (log.last < DIGITS || MUT == late) ->
		log.digits = DIGITS - 1;
		given = true
	}
	:: atomic { given && other < NUMBERS ->
		hand(DIGITS - 1, other);
		other++
	}
	od
}
