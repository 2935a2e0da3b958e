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

// CPU returns how much processor time the server has used since it started, according to its
// container's control group. For a server that was already running it returns an error, because
// this machine may not see its processes.
func (s *Server) CPU(ctx context.Context) (time.Duration, error) {
	if s.container == nil {
		return 0, errors.New("databases: the processor time of a server without a container of " +
			"ours is unknown")
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
