import { expect, test } from "bun:test";
import { FakeTimers } from "../../../../test/fake-timers.ts";
import { SecondTicker } from "./throttle.ts";

function startTicker() {
  const timers = new FakeTimers();
  const tab = { isHidden: false, tell: undefined as (() => void) | undefined, timersSet: 0 };
  const ticker = new SecondTicker({
    setTimer(run, ms) {
      tab.timersSet++;
      return timers.set(run, ms);
    },
    isHidden: () => tab.isHidden,
    onVisibility(run) {
      tab.tell = run;
      return () => {
        tab.tell = undefined;
      };
    },
  });
  const setHidden = (isHidden: boolean) => {
    tab.isHidden = isHidden;
    tab.tell?.();
  };
  return { ticker, timers, tab, setHidden };
}

test("all texts share one timer, which ends with the last of them", () => {
  const { ticker, timers, tab } = startTicker();
  let calls = 0;
  const stops = [1, 2, 3].map(() => ticker.subscribe(() => calls++));
  timers.advance(2_000);
  expect([calls, ticker.ticks]).toEqual([6, 2]);
  expect(tab.timersSet).toBe(3);
  for (const stop of stops) stop();
  timers.advance(10_000);
  expect([calls, tab.timersSet, tab.tell]).toEqual([6, 3, undefined]);
});

test("a hidden tab has no timer, and is right at once when it is shown", () => {
  const { ticker, timers, tab, setHidden } = startTicker();
  let calls = 0;
  ticker.subscribe(() => calls++);
  setHidden(true);
  const { timersSet } = tab;
  timers.advance(60_000);
  ticker.subscribe(() => {});
  timers.advance(60_000);
  expect([calls, tab.timersSet]).toEqual([0, timersSet]);
  setHidden(false);
  expect(calls).toBe(1);
  timers.advance(1_000);
  expect(calls).toBe(2);
});
