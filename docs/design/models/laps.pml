/*
 * laps: launch numbers go on without end, and their digits come again. The generator numbers belong
 * to the digits. No pair of digits and generator number is handed out twice.
 *
 * A log is trimmed, backed up, and restored, up to RESTORES times. The operator then advances it to
 * a launch that is no lower than any that was acknowledged. With RANGES the log gives up its last
 * digits, before a launch has had them, to a log of another region.
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
#define perlaunch 1  /* each launch counts its generator numbers from 0 */
#define onlyskipped 2 /* an advance uses up the digits of the launches that it skips, and no others */
#define onlyran 3    /* only those of the launches that run in the restored log */
#define short 4      /* the operator advances to one launch too few */
#define forgotten 5  /* nobody advances */
#define trimlowers 6 /* a trim sets the counter to what the rows still show */
#define wide 7       /* an advance does not state the range again */
#define after 10     /* it states the range after it has used digits up */
#define late 8       /* digits are given up that a launch has had */
#define anytoken 9   /* a claim in doubt takes another claim's row for its own */
#ifndef MUT
#define MUT none
#endif

#define NONE 0
#define RUNNING 1
#define ENDED 2

typedef Log {
	byte last;             /* launch */
	byte digits;           /* that are its own: 0 .. digits - 1 */
	byte next[DIGITS];     /* generator number */
	byte rows[DIGITS];     /* of claims: bit g for g */
	byte st[LAUNCHES + 1]; /* of launches */
	byte token, which      /* the row of a claim in doubt: 1 + its pair, and which claim it was */
}
Log log, backup;
byte acked[DIGITS]; /* what was ever handed out: bit g for g */
byte other;         /* the next number of the last digits in the other region's log */
byte truth;         /* the highest launch that was acknowledged */
byte restores, doubt, doubts; /* doubt: the launch whose claim is in doubt; doubts: how many were */
bool saved, restored, given;

hidden byte n, d, g, to, repeated;

#define works (!restored || MUT == forgotten)
#define at(n) (((n) - 1) % log.digits)

inline copy(a, b) {
	a.last = b.last;
	a.digits = b.digits;
	a.token = b.token;
	a.which = b.which;
	for (d : 0 .. DIGITS - 1) {
		a.next[d] = b.next[d];
		a.rows[d] = b.rows[d]
	}
	for (n : 0 .. LAUNCHES) { a.st[n] = b.st[n] }
	n = 0;
	d = 0
}

/* Invariant repeated: no pair is handed out twice. */
inline hand(digits, number) {
	repeated = (acked[digits] >> (number)) & 1;
	assert(!repeated);
	acked[digits] = acked[digits] | (1 << (number))
}

inline take() {
	g = log.next[d];
	log.next[d]++;
	log.rows[d] = log.rows[d] | (1 << g)
}

init {
	log.digits = DIGITS;
	do
	/* a start */
	:: atomic { works && log.last < LAUNCHES ->
		log.last++;
		log.st[log.last] = RUNNING;
		if
		:: MUT == perlaunch -> log.next[at(log.last)] = 0
		:: else
		fi;
		truth = (log.last > truth -> log.last : truth)
	}
	/* a claim, whose answer may be lost */
	:: atomic { works ->
		select(n : 1 .. LAUNCHES);
		d = at(n);
		if
		:: log.st[n] == RUNNING && log.next[d] < NUMBERS ->
			take();
			if
			:: hand(d, g)
			:: doubts < DOUBT && doubt == 0 ->
				doubt = n;
				doubts++;
				log.which = doubts;
				log.token = 1 + d * NUMBERS + g
			fi
		:: else
		fi;
		n = 0; d = 0; g = 0
	}
	/* the claim in doubt is run again: its row is there, or it takes another number */
	:: atomic { works && doubt > 0 ->
		d = at(doubt);
		if
		:: log.token > 0 && (log.which == doubts || MUT == anytoken) ->
			d = (log.token - 1) / NUMBERS;
			g = (log.token - 1) % NUMBERS;
			hand(d, g);
			doubt = 0
		:: else ->
			if
			:: log.st[doubt] == RUNNING && log.next[d] < NUMBERS ->
				take();
				hand(d, g)
			:: else
			fi;
			doubt = 0
		fi;
		log.token = 0; log.which = 0; d = 0; g = 0
	}
	/* an end */
	:: atomic { works ->
		select(n : 1 .. LAUNCHES);
		if
		:: log.st[n] == RUNNING -> log.st[n] = ENDED
		:: else
		fi;
		n = 0
	}
	/* a trim of any row */
	:: atomic { works ->
		select(d : 0 .. DIGITS - 1);
		select(g : 0 .. NUMBERS - 1);
		log.rows[d] = log.rows[d] & (255 - (1 << g));
		log.token = (log.token == 1 + d * NUMBERS + g -> 0 : log.token);
		if
		:: MUT == trimlowers ->
			log.next[d] = 0;
			for (g : 0 .. NUMBERS - 1) {
				log.next[d] = (((log.rows[d] >> g) & 1) -> g + 1 : log.next[d])
			}
		:: else
		fi;
		d = 0; g = 0
	}
	:: atomic { works -> copy(backup, log); saved = true }
	:: atomic { saved && restores < RESTORES ->
		copy(log, backup);
		restored = true;
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
		log.digits = (given && MUT != wide && MUT != after -> DIGITS - 1 : log.digits);
		for (n : 1 .. LAUNCHES) {
			if
			:: n <= log.last && log.st[n] == RUNNING && MUT != onlyskipped ->
				log.next[at(n)] = NUMBERS
			:: n > log.last && n <= to && MUT != onlyran -> log.next[at(n)] = NUMBERS
			:: else
			fi;
			log.st[n] = (n > log.last && n <= to -> ENDED : log.st[n])
		}
		log.last = to;
		log.digits = (given && MUT != wide -> DIGITS - 1 : log.digits);
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
