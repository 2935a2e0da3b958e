package generator

// Settle waits for the answer to the request for a window that was made last, if it is under way:
// what happens after it happens in the same order at each run.
func (g *Trace) Settle() { g.line.settle() }

// Settle is [Trace.Settle].
func (g *EightByte) Settle() { g.line.settle() }

func (t *timeline) settle() {
	t.windows.mu.Lock()
	q := t.windows.pending
	t.windows.mu.Unlock()
	if q != nil {
		<-q.done
	}
}
