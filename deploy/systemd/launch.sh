#!/bin/sh
set -eu
release=$(basename "$(readlink -f /opt/shop/current)")
idmint launch start --service shop --env production \
  --key "systemd/shop/$release" --version "$release" \
  --initiator systemd --initiator-kind system --format env > "$RUNTIME_DIRECTORY/launch.env"
