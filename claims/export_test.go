package claims

import "math/rand/v2"

// SetRandom makes the choices of a source follow from a seed.
func (s *Source[N]) SetRandom(r *rand.Rand) { s.random = r }
