package generator

// Settle waits for the answer to the last request for a window, if one is under way. What comes
// after Settle then comes in the same order at each run.
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
