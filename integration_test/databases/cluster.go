package databases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/moby/moby/api/types/network"
	"github.com/testcontainers/testcontainers-go"
	tcnetwork "github.com/testcontainers/testcontainers-go/network"
)

// A Cluster holds the nodes of a store. Each node can be killed, stopped, cut off and restarted,
// and keeps its address, which the other nodes and clients know.
type Cluster struct {
	Kind  Kind
	Nodes []*Server

	network *testcontainers.DockerNetwork
}

// RunCluster runs n nodes of a store, from 1 to 9, on a separate network. Clients on this machine
// reach them by their addresses on it, which requires Linux. Settings are added to the
// configuration of every node: flags of etcd, or lines of ZooKeeper's zoo.cfg or of cassandra.yaml.
// If the store is not available, the error is an [*UnavailableError].
func RunCluster(ctx context.Context, k Kind, n int, settings ...string) (*Cluster, error) {
	return runCluster(ctx, k, n, "", nil, settings)
}

// runNode runs a cluster of one node.
func runNode(
	ctx context.Context, k Kind, disk string, access *Access, settings []string,
) (*Server, error) {
	c, err := runCluster(ctx, k, 1, disk, access, settings)
	if err != nil {
		return nil, err
	}
	s := c.Nodes[0]
	s.network = c.network
	return s, nil
}

func runCluster(
	ctx context.Context, k Kind, n int, disk string, access *Access, settings []string,
) (*Cluster, error) {
	if known[k].store == nil || n < 1 || n > 9 {
		return nil, fmt.Errorf("a cluster of %d nodes of %s: not a store, or not from 1 to 9", n, k)
	}
	if err := Docker(ctx); err != nil {
		return nil, &UnavailableError{k, err}
	}
	if runtime.GOOS != "linux" {
		return nil, &UnavailableError{k, errors.New("containers have no addresses here")}
	}
	c := &Cluster{Kind: k, Nodes: make([]*Server, n)}
	var ips []string
	var err error
	if c.network, ips, err = newNetwork(ctx, n); err != nil {
		return nil, unlessImage(ctx, k, err)
	}
	if access != nil {
		if err := access.certify(ips); err != nil {
			return nil, errors.Join(err, c.Stop())
		}
	}
	err = c.each(func(i int) error {
		var err error
		c.Nodes[i], err = startNode(ctx, node{k, i, ips, settings, access}, disk,
			c.network.Name)
		return err
	})
	if err == nil {
		err = c.await(ctx, "image "+known[k].image)
	}
	if secure := known[k].store.secure; err == nil && access != nil && secure != nil {
		err = secure(ctx, c.Nodes[0])
	}
	if err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

// newNetwork creates a network, and chooses the addresses of n nodes on it.
func newNetwork(ctx context.Context, n int) (*testcontainers.DockerNetwork, []string, error) {
	for tries := 1; ; tries++ {
		// 198.18.0.0/15 is reserved for tests of networks
		subnet := netip.AddrFrom4([4]byte{198, byte(18 + rand.IntN(2)), byte(rand.IntN(256)), 0})
		gateway := subnet.Next()
		made, err := tcnetwork.New(ctx,
			tcnetwork.WithLabels(Labels()),
			tcnetwork.WithIPAM(&network.IPAM{Config: []network.IPAMConfig{
				{Subnet: netip.PrefixFrom(subnet, 24), Gateway: gateway},
			}}))
		if err == nil {
			ips := make([]string, n)
			ip := gateway
			for i := range ips {
				ip = ip.Next()
				ips[i] = ip.String()
			}
			return made, ips, nil
		}
		if tries == 10 || !strings.Contains(err.Error(), "overlaps") {
			return nil, nil, err
		}
	}
}

// startNode starts a node without waiting for it.
func startNode(ctx context.Context, n node, disk, on string) (*Server, error) {
	spec := known[n.kind]
	options := append(spec.store.configure(n),
		tcnetwork.WithNetworkName(nil, on),
		testcontainers.WithEndpointSettingsModifier(func(e map[string]*network.EndpointSettings) {
			e[on].IPAMConfig = &network.EndpointIPAMConfig{
				IPv4Address: netip.MustParseAddr(n.ip()),
			}
		}))
	container, err := launch(ctx, n.kind, disk, options...)
	if err != nil {
		return nil, err
	}
	return &Server{
		Kind: n.kind, Addresses: []string{net.JoinHostPort(n.ip(), spec.port)}, Access: n.access,
		container: container, peers: slices.Delete(slices.Clone(n.ips), n.index, n.index+1),
	}, nil
}

// each calls f for all nodes at the same time, and returns the errors.
func (c *Cluster) each(do func(i int) error) error {
	errs := make([]error, len(c.Nodes))
	var all sync.WaitGroup
	for i := range c.Nodes {
		all.Go(func() { errs[i] = do(i) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// await waits until each of the nodes answers.
func (c *Cluster) await(ctx context.Context, from string) error {
	return c.each(func(i int) error { return c.Nodes[i].await(ctx, from) })
}

// Addresses returns the addresses of all nodes.
func (c *Cluster) Addresses() []string {
	var all []string
	for _, s := range c.Nodes {
		all = append(all, s.Addresses...)
	}
	return all
}

// Leader returns the index of the node that says that it leads, or an error if no answering node
// does. Cassandra has no leader.
func (c *Cluster) Leader(ctx context.Context) (int, error) {
	var errs []error
	for i, s := range c.Nodes {
		a, err := s.ask(ctx, s.Addresses[0])
		if err == nil && a.leads {
			return i, nil
		}
		errs = append(errs, err)
	}
	return 0, errors.Join(append(errs, fmt.Errorf("no node of %s leads", c.Kind))...)
}

// Restart starts the nodes that are not running, with the data that they had, and waits until all
// nodes answer. A single node cannot be restarted by [Server.Restart], because it answers only when
// it has its majority.
func (c *Cluster) Restart(ctx context.Context) error {
	err := c.each(func(i int) error {
		s := c.Nodes[i]
		running, err := s.Running(ctx)
		if err != nil || running {
			return err
		}
		return s.container.Start(ctx)
	})
	if err != nil {
		return err
	}
	return c.await(ctx, "started again")
}

// Stop ends the cluster, and removes its data.
func (c *Cluster) Stop() error {
	err := c.each(func(i int) error {
		if c.Nodes[i] == nil { // was never started
			return nil
		}
		return c.Nodes[i].Stop()
	})
	return errors.Join(err, c.network.Remove(context.Background()))
}

// Links are directions of packets to or from a node.
type Links uint8

// The directions.
const (
	FromPeers Links = 1 << iota // other nodes of the cluster
	ToPeers
	FromClients // clients on this machine
	ToClients

	Peers   = FromPeers | ToPeers
	Clients = FromClients | ToClients
)

// ErrNoPartition is returned if this program is not allowed to drop a server's packets.
var ErrNoPartition = errors.New(
	"no partitions: they take root on Linux, with the commands nsenter and iptables")

// Cut silently drops all packets of the links, as a broken network does, in addition to links that
// are already cut. [Server.Heal] undoes it, and so does the end of the server's container. Only
// clients on this machine are meant. It returns [ErrNoPartition], or an error for a node without
// peers.
func (s *Server) Cut(ctx context.Context, links Links) error {
	inspect, err := s.container.Inspect(ctx)
	if err != nil {
		return err
	}
	var clients []string // they use the gateway, because the server is on a separate network
	for _, n := range inspect.NetworkSettings.Networks {
		clients = append(clients, n.Gateway.String())
	}
	var rules []string
	drop := func(link Links, chain, end string, addresses []string) {
		if links&link != 0 {
			for _, a := range addresses {
				rules = append(rules, fmt.Sprintf("-A %s -%s %s -j DROP", chain, end, a))
			}
		}
	}
	drop(FromPeers, "INPUT", "s", s.peers)
	drop(ToPeers, "OUTPUT", "d", s.peers)
	drop(FromClients, "INPUT", "s", clients)
	drop(ToClients, "OUTPUT", "d", clients)
	if len(rules) == 0 {
		return fmt.Errorf("%s: has nothing to be cut off from", s)
	}
	return s.filter(ctx, inspect.State.Pid, rules...)
}

// Heal lets all packets through again. It returns the same errors as [Server.Cut].
func (s *Server) Heal(ctx context.Context) error {
	inspect, err := s.container.Inspect(ctx)
	if err != nil {
		return err
	}
	return s.filter(ctx, inspect.State.Pid, "-F INPUT", "-F OUTPUT")
}

// filter changes all rules of the packet filter at once, in the network of a process.
func (s *Server) filter(ctx context.Context, pid int, rules ...string) error {
	if os.Geteuid() != 0 {
		return ErrNoPartition
	}
	for _, command := range []string{"nsenter", "iptables-restore"} {
		if _, err := exec.LookPath(command); err != nil {
			return fmt.Errorf("%w: %w", ErrNoPartition, err)
		}
	}
	cmd := exec.CommandContext(ctx, "nsenter", "--target", strconv.Itoa(pid), "--net",
		"iptables-restore", "--noflush", "--wait")
	cmd.Stdin = strings.NewReader("*filter\n" + strings.Join(rules, "\n") + "\nCOMMIT\n")
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", s, err, output.Bytes())
	}
	return nil
}
