/*
 * launch: the launch log where only a partition is one unit, as in Cassandra.
 *
 * The namespace's partition keeps the last launch number, key -> launch, the launches, and the
 * advance that is pending. Each launch has a partition of its own: the next generator number,
 * whether it has ended, and token -> generator number. It may be missing until the first claim.
 *
 * A statement compares a partition's version and writes rows of this partition alone. Once sent it
 * stays in the network for ever: the store may carry it out late, and try it again. A client hears
 * of its outcome by running the whole keyed operation again: it reads one partition, in one
 * snapshot, and answers or sends.
 *
 * A version that is compared names the state that its sender read. So a statement is known by what
 * it is for and by the version.
 */
#ifndef KEYS
#define KEYS 2 /* deployments, each with a key, and retried at will */
#endif
#ifndef TOKENS
#define TOKENS 1 /* claims of a launch, each with a token, and retried at will */
#endif
#ifndef CLAIMS
#define CLAIMS 1 /* whether there are claims */
#endif
#ifndef LAUNCHES
#define LAUNCHES 3 /* the last launch number */
#endif
#ifndef VERSIONS
#define VERSIONS 4 /* the last version of a partition */
#endif
#ifndef NUMBERS
#define NUMBERS 2 /* generator numbers of a launch */
#endif
#ifndef ADVANCES
#define ADVANCES 1 /* processes that run AdvanceLaunches */
#endif
#ifndef TARGET
#define TARGET 2 /* AdvanceLaunches raises the last launch to it */
#endif
#ifndef SECOND
#define SECOND TARGET /* what the second process raises it to */
#endif
#ifndef CRASHES
#define CRASHES 1 /* advances that are cut off; they are run again */
#endif

#ifndef READS
#define READS 1 /* start reads the namespace in one snapshot; 2: its key before the rest */
#endif

/* What an advance does that finds the last launch raised already. */
#define returns 1 /* nothing: who raised it ends the older launches */
#define sweeps 2  /* it ends all launches up to its own target */
#define record 3  /* who raised it wrote which launches are to end; all that come later end them */
#ifndef RULE
#define RULE record
#endif

#define none 0
#define startnocompare 1 /* start compares its key, and no version */
#define keyblind 2       /* start compares the version, and reads its key only */
#define claimnocompare 3 /* claim compares no version */
#define notoken 4        /* claim neither reads nor compares its token */
#define claimended 5     /* claim asks not whether its launch has ended */
#define upsert 6         /* a first claim writes its launch's partition without a compare */
#define endnocompare 7   /* end compares no version */
#define endnobump 8      /* end leaves the version as it is */
#define endfirst 9       /* advance ends the launches before it raises the last number */
#define ackearly 10      /* advance acknowledges before it has ended the launches */
#define skipmissing 11   /* advance passes over launches whose partition is missing */
#define clearblind 12    /* advance clears a record that it has not swept */
#ifndef MUT
#define MUT none
#endif

#define ALL (LAUNCHES + 1)
#define NONE 255

typedef Namespace {
	byte last, version;
	byte pending /* launches up to it are to end; 0: no advance is under way */
}
typedef Launch {
	byte key;     /* and 1; 0: it was not started */
	bool running; /* its start was acknowledged: its app knows the number */
	byte version, next;
	bool ended;
	byte atAdvance /* the next generator number when the advance was acknowledged */
}
typedef Claim { /* of a launch, by a token */
	byte made;   /* generator number and 1, in the store */
	byte answer; /* and what a client was told */
	byte sent[VERSIONS] /* by version: generator number and 1, in a statement */
}
typedef Start {
	byte made, answer, reads;
	byte sent[VERSIONS] /* by version: launch */
}
typedef Advance {
	byte at, upto;
	byte swept;             /* launches: bit l for l */
	byte sent[VERSIONS];    /* by version: the last launch before, and 1 */
	byte cleared[VERSIONS]  /* by version: the record that it clears, and 1 */
}
Namespace ns;
Launch launch[ALL];
Claim claim[ALL * TOKENS + 1];
Start start[KEYS];
Advance advance[ADVANCES + 1];
byte ends[ALL];  /* statements that end a launch: bit v for the version that they compare */
byte crashes;
bool acked;      /* the first process was told that its advance is done */
byte raised = NONE; /* the last launch before the last number was advanced */
bool failed;     /* an advance ended with an error: its target is below the last launch */

hidden byte each, repeated, forgotten, unkeyed, runs, half;

#define idle 0
#define sweep 1
#define other 2 /* it ends what another's record names, and then begins anew */
#define raise 3
#define ack 4
#define over 5

#define target(a) ((a) == 0 -> TARGET : SECOND)
#define token(l, t) ((l) * TOKENS + (t))

/* Invariant half: where no advance is pending, or one ended with an error, none is half done. */
inline whole() {
	if
	:: raised != NONE && (failed || RULE == record && ns.pending == 0) ->
		for (each : 1 .. LAUNCHES) {
			half = each <= raised && launch[each].key != 0 && !launch[each].ended;
			assert(!half)
		}
	:: else
	fi
}

/* Invariant runs: an acknowledged advance has ended all launches up to its target, and they give
   out no generator number any more. */
inline stopped() {
	if
	:: acked ->
		for (each : 1 .. TARGET) {
			runs = each <= LAUNCHES && (launch[each].key != 0 && !launch[each].ended ||
				launch[each].next != launch[each].atAdvance);
			assert(!runs)
		}
	:: else
	fi
}

/* A client hears of its launch. */
inline tell(x) {
	/* Invariant unkeyed: a key always gives the same launch. */
	unkeyed = start[x].answer != 0 && start[x].answer != start[x].made;
	assert(!unkeyed);
	for (each : 0 .. KEYS - 1) {
		/* Invariant repeated: nobody else was told this number. */
		repeated = each != x && start[each].answer == start[x].made;
		assert(!repeated)
	}
	start[x].answer = start[x].made;
	launch[start[x].made].running = true
}

/* launchlog: StartLaunch, of the key x */
proctype StartLaunch(byte x) {
	byte w;
end:	do
	:: atomic { READS == 2 && start[x].reads != start[x].made + 1 -> /* it reads its key */
		start[x].reads = start[x].made + 1
	}
	:: atomic { ns.last < LAUNCHES && ns.version < VERSIONS &&
		(READS == 2 -> start[x].reads == 1 : start[x].made == 0) ->
		start[x].sent[ns.version] = ns.last + 1 /* it sends its statement */
	}
	:: atomic { true -> /* the statement is carried out */
		select(w : 0 .. VERSIONS - 1);
		if
		:: start[x].sent[w] != 0 && (ns.version == w || MUT == startnocompare) &&
			(start[x].made == 0 || MUT == keyblind) ->
			/* Invariant forgotten: a launch that was acknowledged stays as it is. */
			forgotten = launch[start[x].sent[w]].running && launch[start[x].sent[w]].key != x + 1;
			assert(!forgotten);
			ns.last = start[x].sent[w];
			ns.version++;
			start[x].made = start[x].sent[w];
			launch[start[x].made].key = x + 1;
			stopped();
			whole()
		:: else
		fi;
		w = 0
	}
	:: atomic { start[x].made != 0 && start[x].answer != start[x].made -> tell(x) }
	od
}

/* launchlog: ClaimGenerator, of the launch l by the token t. It compares the launch's own
   partition alone. That the launch is there was read before, and stays true. */
proctype ClaimGenerator(byte l; byte t) {
	byte w;
end:	do
	:: atomic { launch[l].running && (claim[token(l, t)].made == 0 || MUT == notoken) &&
		launch[l].version < VERSIONS && launch[l].next < NUMBERS &&
		(!launch[l].ended || MUT == claimended) ->
		claim[token(l, t)].sent[launch[l].version] = launch[l].next + 1
	}
	:: atomic { true -> /* the statement is carried out */
		select(w : 0 .. VERSIONS - 1);
		if
		:: claim[token(l, t)].sent[w] != 0 &&
			(launch[l].version == w || MUT == claimnocompare || MUT == upsert && w == 0) &&
			(claim[token(l, t)].made == 0 || MUT == notoken) ->
			launch[l].version++;
			launch[l].next = claim[token(l, t)].sent[w];
			claim[token(l, t)].made = claim[token(l, t)].sent[w];
			if
			:: MUT == upsert -> launch[l].ended = false
			:: else
			fi;
			stopped();
			whole()
		:: else
		fi;
		w = 0
	}
	:: atomic { claim[token(l, t)].made != 0 && claim[token(l, t)].answer !=
		claim[token(l, t)].made -> /* the client hears of its number */
		unkeyed = claim[token(l, t)].answer != 0;
		assert(!unkeyed);
		for (each : 0 .. TOKENS - 1) {
			repeated = each != t && claim[token(l, each)].answer == claim[token(l, t)].made;
			assert(!repeated)
		}
		claim[token(l, t)].answer = claim[token(l, t)].made
	}
	od
}

/* launchlog: EndLaunch, by its owner; an advance sends the same statement. */
proctype EndLaunch(byte l) {
end:	do
	:: atomic { launch[l].running && !launch[l].ended && launch[l].version < VERSIONS ->
		ends[l] = ends[l] | (1 << launch[l].version)
	}
	:: atomic { (MUT == endnocompare -> ends[l] != 0 :
		(ends[l] & (1 << launch[l].version)) != 0) -> /* the statement is carried out */
		launch[l].ended = true;
		if
		:: MUT != endnobump -> launch[l].version++
		:: else
		fi
	}
	od
}

#define is(a, x) (advance[a].at == (x))
#define exists(l) (MUT == skipmissing -> launch[l].version > 0 : launch[l].key != 0)
#define all(n) (((1 << ((n) + 1)) - 2) & ((1 << ALL) - 1)) /* launches 1 to n */

inline clean(a) {
	advance[a].upto = 0;
	advance[a].swept = 0
}

/* launchlog: AdvanceLaunches. It raises the last number, ends the older launches, and then
   acknowledges. */
proctype AdvanceLaunches(byte a) {
	byte w;
end:	do
	:: atomic { is(a, idle) -> /* kv: Read, of the namespace's partition */
		if
		:: MUT == endfirst ->
			advance[a].at = sweep;
			advance[a].upto = ns.last
		:: else ->
			if
			:: RULE == record && ns.pending != 0 -> /* an advance was cut off: finish it first */
				advance[a].at = other;
				advance[a].upto = ns.pending
			:: else ->
				if
				:: ns.last < target(a) && ns.version < VERSIONS -> /* it sends the raise */
					advance[a].sent[ns.version] = ns.last + 1
				:: ns.last == target(a) && RULE == returns -> advance[a].at = ack
				:: ns.last == target(a) && RULE != returns ||
					ns.last > target(a) && RULE == sweeps ->
					advance[a].at = sweep;
					advance[a].upto = target(a)
				:: ns.last > target(a) && RULE != sweeps ->
					advance[a].at = over;
					failed = true;
					whole()
				:: ns.last < target(a) && ns.version == VERSIONS
				fi
			fi
		fi
	}
	:: atomic { true -> /* the raise is carried out */
		select(w : 0 .. VERSIONS - 1);
		if
		:: advance[a].sent[w] != 0 && ns.version == w ->
			ns.last = target(a);
			ns.version++;
			raised = advance[a].sent[w] - 1;
			if
			:: RULE == record -> ns.pending = raised
			:: else
			fi;
			if
			:: skip /* nobody hears of it */
			:: is(a, idle) && MUT != endfirst ->
				advance[a].at = (MUT == ackearly -> ack : sweep);
				advance[a].upto = raised
			:: is(a, raise) -> advance[a].at = ack
			fi
		:: else
		fi;
		w = 0
	}
	:: atomic { is(a, sweep) || is(a, other) -> /* it looks at one launch, and ends it */
		select(w : 1 .. LAUNCHES);
		if
		:: w <= advance[a].upto && (advance[a].swept & (1 << w)) == 0 ->
			if
			:: !exists(w) || launch[w].ended -> advance[a].swept = advance[a].swept | (1 << w)
			:: else ->
				if
				:: launch[w].version < VERSIONS -> ends[w] = ends[w] | (1 << launch[w].version)
				:: else
				fi
			fi
		:: else
		fi;
		w = 0
	}
	:: atomic { (is(a, sweep) || is(a, other)) &&
		(advance[a].swept & all(advance[a].upto)) == all(advance[a].upto) -> /* all have ended */
		if
		:: MUT == endfirst && ns.last < target(a) && ns.version < VERSIONS ->
			advance[a].at = raise;
			advance[a].sent[ns.version] = ns.last + 1
		:: MUT == endfirst && ns.last < target(a) && ns.version == VERSIONS
		:: else ->
			if
			:: RULE == record && ns.version < VERSIONS && ns.pending != 0 &&
				(ns.pending == advance[a].upto || MUT == clearblind) ->
				/* It sends the end of that very record. */
				advance[a].cleared[ns.version] = 1
			:: else
			fi;
			advance[a].at = (is(a, sweep) -> ack : idle);
			clean(a)
		fi
	}
	:: atomic { true -> /* the record is cleared */
		select(w : 0 .. VERSIONS - 1);
		if
		:: advance[a].cleared[w] != 0 && ns.version == w ->
			ns.version++;
			ns.pending = 0;
			whole()
		:: else
		fi;
		w = 0
	}
	:: atomic { is(a, ack) && a == 0 && !acked ->
		acked = true;
		for (each : 1 .. LAUNCHES) { launch[each].atAdvance = launch[each].next }
		stopped()
	}
	:: atomic { !is(a, idle) && crashes < CRASHES -> /* it is cut off, and run again */
		crashes++;
		advance[a].at = idle;
		clean(a)
	}
	od
}

init {
	byte l, t;
	atomic {
		for (l : 0 .. KEYS - 1) { run StartLaunch(l) }
		for (l : 1 .. LAUNCHES) {
			run EndLaunch(l);
			for (t : 1 .. TOKENS) {
				if
				:: CLAIMS -> run ClaimGenerator(l, t - 1)
				:: else
				fi
			}
		}
		for (l : 0 .. 1) {
			if
			:: l < ADVANCES -> run AdvanceLaunches(l)
			:: else
			fi
		}
		l = 0;
		t = 0
	}
}
