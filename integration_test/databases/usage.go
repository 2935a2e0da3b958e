package databases

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// CPU is how much processor time the server has taken since it started, as its container's group
// counts it. A server that was running before is an error: this machine may not see its processes.
func (s *Server) CPU(ctx context.Context) (time.Duration, error) {
	if s.container == nil {
		return 0, errors.New("databases: no container of ours: its processor time is not known")
	}
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		return 0, err
	}
	defer docker.Close()
	stats, err := docker.ContainerStats(ctx, s.container.GetContainerID(),
		client.ContainerStatsOptions{})
	if err != nil {
		return 0, err
	}
	defer stats.Body.Close()
	var all container.StatsResponse
	if err := json.NewDecoder(stats.Body).Decode(&all); err != nil {
		return 0, err
	}
	return time.Duration(all.CPUStats.CPUUsage.TotalUsage), nil
}
