#!/bin/sh
set -eu
release=$(basename "$(readlink -f /opt/shop/current)")
cd "$RUNTIME_DIRECTORY"
idmint launch start --service shop --env "$APP_ENV" \
  --key "shop/$APP_ENV/systemd/$release" --version "$release" \
  --initiator systemd --initiator-kind system --format env > launch.new
mv launch.new launch.env
