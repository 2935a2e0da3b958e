package etcd

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/grpc"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/internal/kv"
)

// wrong answers each transaction by one answer, which is none to what it asks. It ends a step that
// asks again and again.
type wrong struct {
	etcdserverpb.UnimplementedKVServer
	answer *etcdserverpb.TxnResponse
	asked  atomic.Int32
	again  func()
}

func (w *wrong) Txn(
	context.Context, *etcdserverpb.TxnRequest,
) (*etcdserverpb.TxnResponse, error) {
	if w.asked.Add(1) > 4 { // by then one of them has come back
		w.again()
	}
	return w.answer, nil
}

// late reports whether a call ended because its time was over, and not with a wrong answer.
func late(err error) bool {
	return errors.As(err, new(*launchlog.AttemptError)) && !errors.Is(err, errAnswer)
}

// A server that answers something else than it was asked is an error of each step, and a commit is
// in doubt.
func TestWrongAnswers(t *testing.T) {
	ranged := func(keys ...string) *etcdserverpb.ResponseOp {
		found := &etcdserverpb.RangeResponse{}
		for _, key := range keys {
			found.Kvs = append(found.Kvs, &mvccpb.KeyValue{Key: []byte(key), Version: 1})
		}
		return &etcdserverpb.ResponseOp{
			Response: &etcdserverpb.ResponseOp_ResponseRange{ResponseRange: found},
		}
	}
	put := &etcdserverpb.ResponseOp{Response: &etcdserverpb.ResponseOp_ResponsePut{}}
	for name, answers := range map[string][]*etcdserverpb.ResponseOp{
		"none":            nil,
		"too many":        {ranged(), ranged(), ranged()},
		"another kind":    {put, put},
		"no kind":         {{}, {}},
		"a key too short": {ranged("/p"), ranged("/p")},
		"another key":     {ranged("/p:zz/z"), ranged("/p:zz/z")},
	} {
		for step, run := range map[string]func(context.Context, *engine) error{
			"read": func(ctx context.Context, e *engine) error {
				_, err := e.Read(ctx, "n/p", "a")
				return err
			},
			"list": func(ctx context.Context, e *engine) error {
				_, err := e.List(ctx, "n/p", "", "", 9)
				return err
			},
			"each": func(ctx context.Context, e *engine) error {
				_, err := e.Each(ctx, []string{"n/p"}, "a")
				return err
			},
			"commit": func(ctx context.Context, e *engine) error {
				_, err := e.Commit(ctx, "n/p", kv.Change{Name: "a"})
				return err
			},
		} {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			server := grpc.NewServer()
			w := &wrong{answer: &etcdserverpb.TxnResponse{Responses: answers}, again: cancel}
			etcdserverpb.RegisterKVServer(server, w)
			go func() { _ = server.Serve(listener) }()
			e := newEngine(Config{Endpoints: []string{listener.Addr().String()}, Prefix: "/p"})
			err = run(ctx, e)
			for late(err) && w.asked.Load() <= 4 { // no answer came back within the call's time
				w.asked.Store(0)
				err = run(ctx, e)
			}
			if !errors.Is(err, errAnswer) {
				t.Errorf("%s, %s: %v", name, step, err)
			}
			e.Close()
			server.Stop()
		}
	}
}
