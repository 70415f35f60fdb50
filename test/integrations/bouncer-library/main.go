// A bouncer made of the library that most bouncers are made of: looks one address up, reports what it counts, prints what it is told.
package main

import (
	"context"
	"encoding/json"
	"os"
	"time"

	csbouncer "github.com/crowdsecurity/go-cs-bouncer"
	"github.com/sirupsen/logrus"
)

const name = "library/v0.0.21"

func main() {
	url, key, address := os.Args[1], os.Args[2], os.Args[3]
	out := json.NewEncoder(os.Stdout)
	ctx := context.Background()

	live := &csbouncer.LiveBouncer{APIKey: key, APIUrl: url, UserAgent: name}
	must(live.Init())
	found, err := live.Get(ctx, address)
	must(err)
	must(out.Encode(found))

	stream := &csbouncer.StreamBouncer{APIKey: key, APIUrl: url, UserAgent: name, TickerInterval: "500ms"}
	must(stream.Init())
	metrics, err := csbouncer.NewMetricsProvider(stream.APIClient, "library", nil, logrus.StandardLogger())
	must(err)
	metrics.Interval = 500 * time.Millisecond
	go metrics.Run(ctx)
	go stream.Run(ctx)
	for decisions := range stream.Stream {
		must(out.Encode(decisions))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
