/*
 * laps: launch numbers go on without end, and their digits come again. A launch whose digits another
 * one had before ends that one, and goes on with its generator numbers. No pair of digits and
 * generator number is handed out twice.
 *
 * Launch n has the digits (n - 1) % DIGITS. A log is trimmed, backed up, and restored, up to RESTORES
 * times. The operator then advances it to a launch that is no lower than any that was acknowledged.
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
#ifndef MUT
#define MUT none
#endif

#define NONE 0
#define RUNNING 1
#define ENDED 2
#define LOST 3 /* ended by an advance */

typedef Log {
	byte last;               /* launch */
	byte digits;             /* that are its own: 0 .. digits - 1 */
	byte st[LAUNCHES + 1];   /* of launches */
	byte next[LAUNCHES + 1]; /* generator number */
	byte rows[LAUNCHES + 1]; /* of claims, with bit g for number g */
	byte token, number, which /* the row of a claim in doubt: 1 + its launch, and which claim it was */
}
Log log, backup;
byte acked[DIGITS]; /* what was ever handed out: bit g for g */
byte other;         /* the next number of the last digits in the other region's log */
byte truth;         /* the highest launch that was acknowledged */
byte heir, base, was; /* a start that has ended the launch before: its launch, number, and last */
byte restores, doubt, doubts; /* doubt: the launch whose claim is in doubt; doubts: how many were */
bool saved, restored, given;

hidden byte n, d, g, to, repeated;

#define works (!restored || MUT == forgotten)
#define at(n) (((n) - 1) % DIGITS)
#define before(n) (n > DIGITS -> n - DIGITS : 0)
#define fresh(n) (n <= DIGITS && at(n) < log.digits || \
	MUT == gaps && n > DIGITS && log.st[before(n)] == NONE)
#define passes(n) (n > DIGITS && log.next[before(n)] < NUMBERS && \
	(log.st[before(n)] == RUNNING || log.st[before(n)] == ENDED || \
	MUT == whole && log.st[before(n)] == LOST))

inline copy(a, b) {
	a.last = b.last;
	a.digits = b.digits;
	a.token = b.token;
	a.number = b.number;
	a.which = b.which;
	for (n : 0 .. LAUNCHES) {
		a.st[n] = b.st[n];
		a.next[n] = b.next[n];
		a.rows[n] = b.rows[n]
	}
	n = 0
}

/* Invariant repeated: no pair is handed out twice. */
inline hand(digits, number) {
	repeated = (acked[digits] >> (number)) & 1;
	assert(!repeated);
	acked[digits] = acked[digits] | (1 << (number))
}

inline take() {
	g = log.next[n];
	log.next[n]++;
	log.rows[n] = log.rows[n] | (1 << g)
}

/* the launch that the next start is to make, or LAUNCHES + 1 */
inline choose() {
	n = log.last + 1;
	do
	:: n <= LAUNCHES && !fresh(n) && !passes(n) -> n++
	:: else -> break
	od
}

inline begin(number) {
	log.last = n;
	log.st[n] = RUNNING;
	log.next[n] = number;
	truth = (log.last > truth -> log.last : truth)
}

init {
	log.digits = DIGITS;
	do
	/* a start, in one step where nobody had the digits before */
	:: atomic { works && heir == 0 && log.last < LAUNCHES ->
		choose();
		if
		:: n > LAUNCHES -> skip
		:: else ->
			if
			:: fresh(n) || MUT == anew -> begin(0)
			:: else ->
				base = log.next[before(n)];
				if
				:: MUT != together && MUT != eager && log.st[before(n)] == RUNNING ->
					log.st[before(n)] = ENDED
				:: else
				fi;
				heir = n;
				was = log.last
			fi
		fi;
		n = 0
	}
	:: atomic { works && heir > 0 ->
		n = heir;
		if
		:: was == log.last ->
			log.st[before(n)] = (MUT == eager -> ENDED : log.st[before(n)]);
			begin(base)
		:: else
		fi;
		n = 0; heir = 0; base = 0; was = 0
	}
	/* a claim, whose answer may be lost */
	:: atomic { works ->
		select(n : 1 .. LAUNCHES);
		if
		:: log.st[n] == RUNNING && log.next[n] < NUMBERS ->
			take();
			if
			:: hand(at(n), g)
			:: doubts < DOUBT && doubt == 0 ->
				doubt = n;
				doubts++;
				log.which = doubts;
				log.token = n;
				log.number = g
			fi
		:: else
		fi;
		n = 0; g = 0
	}
	/* the claim in doubt is run again: its row is there, or it takes another number */
	:: atomic { works && doubt > 0 ->
		n = doubt;
		if
		:: log.token > 0 && (log.which == doubts || MUT == anytoken) ->
			n = log.token;
			g = log.number;
			hand(at(n), g)
		:: else ->
			if
			:: log.st[n] == RUNNING && log.next[n] < NUMBERS ->
				take();
				hand(at(n), g)
			:: else
			fi
		fi;
		doubt = 0; log.token = 0; log.number = 0; log.which = 0; n = 0; g = 0
	}
	/* an end */
	:: atomic { works ->
		select(n : 1 .. LAUNCHES);
		log.st[n] = (log.st[n] == RUNNING -> ENDED : log.st[n]);
		n = 0
	}
	/* a trim of any row */
	:: atomic { works ->
		select(n : 1 .. LAUNCHES);
		select(g : 0 .. NUMBERS - 1);
		d = (log.rows[n] >> g) & 1;
		if
		:: d ->
			log.rows[n] = log.rows[n] & (255 - (1 << g));
			if
			:: log.token == n && log.number == g -> log.token = 0; log.number = 0; log.which = 0
			:: else
			fi;
			if
			:: MUT == trimlowers ->
				log.next[n] = 0;
				for (d : 0 .. NUMBERS - 1) {
					log.next[n] = (((log.rows[n] >> d) & 1) -> d + 1 : log.next[n])
				}
			:: else
			fi
		:: else
		fi;
		n = 0; d = 0; g = 0
	}
	:: atomic { works -> copy(backup, log); saved = true }
	:: atomic { saved && restores < RESTORES ->
		copy(log, backup);
		restored = true;
		heir = 0; base = 0; was = 0;
		restores++
	}
	/* an advance, beyond every launch that is known of */
	:: atomic { restored && MUT != forgotten ->
		to = (MUT == short && truth > 0 -> truth - 1 : truth);
		if
		:: skip
		:: to < LAUNCHES -> to++
		fi;
		to = (to < log.last -> log.last : to);
		log.digits = (given && MUT != wide -> DIGITS - 1 : log.digits);
		for (n : 1 .. LAUNCHES) {
			log.st[n] = (log.st[n] == RUNNING -> LOST : log.st[n])
		}
		log.last = to;
		restored = false;
		n = 0; to = 0
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
