import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Clock } from '../clock.ts';
import { clockBeside, followClock } from './store-clock.ts';

/** A machine whose clocks are set, beside a store; the store's clock is `wall - off`. */
function machine() {
  const state = { wall: 1_800_000_000_000, monotonic: 5_000, off: 0, way: 0, isAway: false, asked: 0 };
  const system: Clock = { now: () => state.wall, monotonic: () => state.monotonic, after: () => () => {} };
  const pass = (ms: number) => {
    state.wall += ms;
    state.monotonic += ms;
  };
  const store = {
    async ping() {
      state.asked += 1;
      if (state.isAway) throw new Error('away');
      pass(state.way / 2);
      const told = state.wall - state.off;
      pass(state.way / 2);
      return told;
    },
  };
  const set = (ms: number) => {
    state.wall += ms;
    state.off += ms;
  };
  return { state, system, store, pass, set };
}

test('D37.1 a clock that is right, a little off or behind is gone by', async (t) => {
  for (const off of [0, 1_500, -900, -3_600_000]) {
    const { state, system, store, set, pass } = machine();
    set(off);
    const { clock, stop } = await followClock(store, system);
    t.after(stop);
    assert.equal(clock.now(), state.wall);
    pass(86_400_000);
    assert.equal(clock.now(), state.wall);
  }
});

test('D37.1 of a clock that is ahead the store’s takes the place: when the process starts, and from the moment in which it is set', async (t) => {
  const { state, system, store, set, pass } = machine();
  const right = () => state.wall - state.off;
  set(200_000);
  state.way = 80;
  const { clock, base, stop } = await followClock(store, system);
  t.after(stop);
  state.way = 0;
  const other = clockBeside(base, { system });
  for (const by of [0, -200_000, 200_000, 86_400_000, -86_400_000, -200_000, 3_000]) {
    set(by);
    state.isAway = by > 0;
    pass(1_000);
    for (const each of [clock, other]) assert.ok(each.now() - right() >= 0 && each.now() - right() <= 80, `${by}: ${each.now() - right()}`);
  }
});

test('D37.1 a machine that slept is asked for nothing but the store’s time, at once and seldom', async (t) => {
  const { state, system, store, pass } = machine();
  const { clock, stop } = await followClock(store, system);
  t.after(stop);
  pass(1_000);
  state.wall += 3_600_000;
  for (let n = 0; n < 10; n++) clock.now();
  assert.equal(state.asked, 2);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(clock.now(), state.wall);
});
