// A bouncer made of the library that most bouncers are made of: looks one address up, holds a set for each origin and list as the
// firewall bouncer does, reports one packet for each network that comes into a set, prints what it is told.
package main

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"github.com/crowdsecurity/crowdsec/pkg/models"
	csbouncer "github.com/crowdsecurity/go-cs-bouncer"
	"github.com/sirupsen/logrus"
)

const name = "library/v0.0.21"

// The sets, and what has come into each since the last report.
type sets struct {
	sync.Mutex
	held    map[string]map[string]bool
	dropped map[string]float64
}

func (s *sets) apply(decisions *models.DecisionsStreamResponse) {
	s.Lock()
	defer s.Unlock()
	for _, decision := range decisions.Deleted {
		delete(s.held[setOf(decision)], *decision.Value)
	}
	for _, decision := range decisions.New {
		set := setOf(decision)
		if s.held[set] == nil {
			s.held[set] = map[string]bool{}
		}
		if !s.held[set][*decision.Value] {
			s.dropped[set]++
		}
		s.held[set][*decision.Value] = true
	}
}

func (s *sets) report(metrics *models.RemediationComponentsMetrics, window time.Duration) {
	s.Lock()
	defer s.Unlock()
	now, seconds := time.Now().Unix(), int64(window.Seconds())
	of := &models.DetailedMetrics{Meta: &models.MetricsMeta{UtcNowTimestamp: &now, WindowSizeSeconds: &seconds}}
	metric, unit := "dropped", "packet"
	for set, count := range s.dropped {
		of.Items = append(of.Items, &models.MetricsDetailItem{Name: &metric, Unit: &unit, Value: &count, Labels: map[string]string{"origin": set, "ip_type": "ipv4"}})
	}
	metrics.Metrics = append(metrics.Metrics, of)
	s.dropped = map[string]float64{}
}

func setOf(decision *models.Decision) string {
	if *decision.Origin == "lists" {
		return "lists:" + *decision.Scenario
	}
	return *decision.Origin
}

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
	all := &sets{held: map[string]map[string]bool{}, dropped: map[string]float64{}}
	metrics, err := csbouncer.NewMetricsProvider(stream.APIClient, "library", all.report, logrus.StandardLogger())
	must(err)
	// Windows that end within the same second could not be told apart.
	metrics.Interval = 1100 * time.Millisecond
	go metrics.Run(ctx)
	go stream.Run(ctx)
	for decisions := range stream.Stream {
		all.apply(decisions)
		must(out.Encode(decisions))
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
