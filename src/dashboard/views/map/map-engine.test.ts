// The cost of the map in frames, canvas calls and comparisons, which do not depend on the machine as times do.
import { describe, expect, test } from "bun:test";
import { EMPTY_GROUND } from "./ground.ts";
import { MapEngine } from "./map-engine.ts";
import type { Marker, PlayerMarker } from "./markers.ts";
import { GLIDE_MS, Motion } from "./motion.ts";
import { findRoundStep, Painter } from "./painter.ts";
import { ScreenGrid } from "./screen-grid.ts";
import { fitTo } from "./viewport.ts";

const TEAMS = ["Civilian", "Police", "Sheriff", "Fire", "DOT", "Jail"];
const SIZE = { width: 800, height: 600 };
const FRAME_MS = 16;
const NO_GROUND = { draw: () => false };

function player(n: number, more: Partial<PlayerMarker> = {}): PlayerMarker {
  return {
    kind: "player",
    key: `player ${n}`,
    x: (n * 373) % 3000,
    y: (n * 547) % 3000,
    team: TEAMS[n % TEAMS.length] ?? "",
    label: `P-${n}`,
    name: `Player${n}`,
    callsign: `P-${n}`,
    stars: n % 5 === 0 ? 2 : 0,
    postal: "",
    street: "",
    building: "",
    ...more,
  };
}

const CROWD: readonly Marker[] = Array.from({ length: 200 }, (_, n) => player(n));

/** A canvas that counts its calls. */
function countCalls() {
  const calls: Record<string, number> = {};
  const texts: string[] = [];
  /** Where each text starts; the y is that of its middle. */
  const places: [x: number, y: number][] = [];
  const context = new Proxy(
    {},
    {
      get: (_target, name: string) => (text: unknown, x: number, y: number) => {
        calls[name] = (calls[name] ?? 0) + 1;
        if (name === "fillText") {
          texts.push(String(text));
          places.push([x, y]);
        }
        return { width: 40 };
      },
      set: () => true,
    },
  ) as CanvasRenderingContext2D;
  return { calls, texts, places, context };
}

function placeMarkers(markers: readonly Marker[]): Motion {
  const motion = new Motion();
  motion.update(markers, 0, false);
  return motion;
}

function startEngine() {
  let now = 0;
  let next: ((now: number) => void) | undefined;
  const counts = { frames: 0, painted: 0 };
  const events: string[] = [];
  const { context } = countCalls();
  const painter = new Painter(context, NO_GROUND);
  const engine = new MapEngine(
    {
      paint(scene, grid) {
        counts.painted += 1;
        return painter.paint(scene, grid);
      },
    },
    {
      requestFrame(draw) {
        if (next) throw new Error("two frames at once");
        counts.frames += 1;
        next = draw;
        return 1;
      },
      cancelFrame() {
        next = undefined;
      },
      now: () => now,
    },
    {
      onHover: (key) => events.push(`hover ${key}`),
      onSelect: (key) => events.push(`select ${key}`),
      onFollowEnd: () => events.push("follow end"),
      onHoveredPlace: () => {},
    },
  );
  const frame = () => {
    now += FRAME_MS;
    const draw = next;
    next = undefined;
    draw?.(now);
    return draw !== undefined;
  };
  /** Draws until the map requests no more frames. Returns the number of frames. */
  const settle = () => {
    let frames = 0;
    while (frame()) {
      frames += 1;
      if (frames > 1_000) throw new Error("the map requests frames for ever");
    }
    return frames;
  };
  return { engine, counts, events, frame, settle };
}

describe("drawing", () => {
  test("needs one shape per team and a limited number of labels for 200 players", () => {
    const { calls, context } = countCalls();
    const scene = {
      viewport: fitTo(CROWD, SIZE),
      size: SIZE,
      ratio: 2,
      motion: placeMarkers(CROWD),
      scheme: "light" as const,
      selected: undefined,
      hovered: undefined,
      covered: [],
      ground: EMPTY_GROUND,
      backdrop: undefined,
    };
    const painted = new Painter(context, NO_GROUND).paint(scene, new ScreenGrid());
    expect(painted.markers).toBe(200);
    expect(calls.arc).toBe(200);
    expect(calls.fill).toBe(TEAMS.length);
    expect(painted.labels).toBeLessThanOrEqual(120);
    expect(Object.values(calls).reduce((sum, count) => sum + count)).toBeLessThan(1_200);
  });

  test("measures a text once, not in every frame", () => {
    const { calls, context } = countCalls();
    const painter = new Painter(context, NO_GROUND);
    const grid = new ScreenGrid();
    const motion = placeMarkers(CROWD);
    const scene = {
      size: SIZE,
      ratio: 1,
      motion,
      scheme: "dark" as const,
      selected: 3,
      hovered: 4,
      covered: [],
      ground: EMPTY_GROUND,
      backdrop: undefined,
    };
    painter.paint({ ...scene, viewport: fitTo(CROWD, SIZE) }, grid);
    const { measureText } = calls;
    painter.paint({ ...scene, viewport: fitTo(CROWD, SIZE) }, grid);
    expect(calls.measureText).toBe(measureText ?? 0);
  });

  test("leaves out markers outside of the screen", () => {
    const { calls, texts, context } = countCalls();
    const scene = {
      viewport: { x: 1e6, y: 1e6, scale: 1 },
      size: SIZE,
      ratio: 1,
      motion: placeMarkers(CROWD),
      scheme: "light" as const,
      selected: 0,
      hovered: undefined,
      covered: [],
      ground: EMPTY_GROUND,
      backdrop: undefined,
    };
    expect(new Painter(context, NO_GROUND).paint(scene, new ScreenGrid())).toMatchObject({
      markers: 0,
      labels: 0,
    });
    expect(calls.arc).toBeUndefined();
    expect(texts).toEqual([]);
  });

  test("draws no label over another, and that of the selected marker first", () => {
    const { texts, context } = countCalls();
    const crowd = Array.from({ length: 30 }, (_, n) => player(n, { x: 0, y: 0, stars: 0 }));
    const scene = {
      viewport: { x: 0, y: 0, scale: 1 },
      size: SIZE,
      ratio: 1,
      motion: placeMarkers(crowd),
      scheme: "light" as const,
      selected: 7,
      hovered: undefined,
      covered: [],
      ground: EMPTY_GROUND,
      backdrop: undefined,
    };
    new Painter(context, NO_GROUND).paint(scene, new ScreenGrid());
    // One label on each side, and that of the selected marker once more over the players.
    expect(texts).toEqual(["P-7", "P-0", "P-7"]);
  });

  test("draws no label under a button or over another one on a phone", () => {
    const { places, context } = countCalls();
    const size = { width: 356, height: 472 };
    const buttons = { left: 298, top: 8, right: 348, bottom: 152 };
    const crowd = CROWD.map((marker) => ({ ...marker, stars: 0 }));
    const viewport = fitTo(crowd, size);
    const motion = placeMarkers(crowd);
    const scene = {
      viewport,
      size,
      ratio: 3,
      motion,
      scheme: "dark" as const,
      covered: [buttons],
      ground: EMPTY_GROUND,
      backdrop: undefined,
    };
    new Painter(context, NO_GROUND).paint(
      { ...scene, selected: undefined, hovered: undefined },
      new ScreenGrid(),
    );
    expect(places.length).toBeGreaterThan(20);
    // Every text is measured as 40 pixels wide.
    const isOver = ([x, y]: [number, number], left: number, top: number, right: number, bottom: number) =>
      x < right && x + 40 > left && y - 7 < bottom && y + 7 > top;
    for (const [index, place] of places.entries()) {
      expect(isOver(place, buttons.left, buttons.top, buttons.right, buttons.bottom)).toBe(false);
      for (const [x, y] of places.slice(0, index)) expect(isOver(place, x, y - 7, x + 40, y + 7)).toBe(false);
    }
  });

  test("places the grid lines at round numbers", () => {
    expect([0.7, 1, 3, 70, 501].map(findRoundStep)).toEqual([1, 1, 5, 100, 1000]);
  });
});

describe("hovering", () => {
  test("compares only a few of 200 players", () => {
    const grid = new ScreenGrid();
    grid.clear(SIZE.width, SIZE.height, CROWD.length);
    for (const [index, { x, y }] of CROWD.entries()) grid.add(index, (x / 3000) * 800, (y / 3000) * 600);
    let most = 0;
    for (let x = 0; x < SIZE.width; x += 13) {
      grid.findNearest(x, (x * 7) % SIZE.height, 14);
      most = Math.max(most, grid.compared);
    }
    expect(most).toBeLessThan(20);
  });

  test("finds the same marker as a search through all", () => {
    const grid = new ScreenGrid();
    grid.clear(SIZE.width, SIZE.height, CROWD.length);
    const places = CROWD.map(({ x, y }) => ({ x: (x / 3000) * 800, y: (y / 3000) * 600 }));
    for (const [index, { x, y }] of places.entries()) grid.add(index, x, y);
    for (let n = 0; n < 300; n += 1) {
      const at = { x: (n * 97) % 800, y: (n * 61) % 600 };
      const distances = places.map(({ x, y }) => Math.hypot(x - at.x, y - at.y));
      const nearest = Math.min(...distances);
      const found = grid.findNearest(at.x, at.y, 24);
      if (nearest < 24) expect(distances[found ?? -1]).toBeCloseTo(nearest, 9);
      else expect(found).toBeUndefined();
    }
  });
});

describe("the map", () => {
  test("draws nothing while nothing changes", () => {
    const { engine, counts, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers(CROWD);
    settle();
    const { frames } = counts;
    engine.setMarkers(CROWD);
    expect(settle()).toBe(1);
    expect(counts.frames).toBe(frames + 1);
    const button = () => ({ left: 1, top: 2, right: 30, bottom: 90 });
    engine.setCovered([button()]);
    expect(settle()).toBe(1);
    engine.setCovered([button()]);
    expect(settle()).toBe(0);
  });

  test("draws once for all changes between two frames", () => {
    const { engine, counts, frame, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers(CROWD);
    settle();
    const { painted } = counts;
    for (let n = 0; n < 50; n += 1) engine.drag(1, 1);
    engine.zoomAround({ x: 10, y: 10 }, 1.1);
    engine.setSelected("player 3");
    frame();
    expect(counts.painted).toBe(painted + 1);
  });

  test("animates a marker that has moved, and then stops drawing", () => {
    const { engine, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers([player(1, { x: 0, y: 0 }), player(2, { x: 900, y: 900 })]);
    settle();
    engine.setMarkers([player(1, { x: 300, y: 0 }), player(2, { x: 900, y: 900 })]);
    const frames = settle();
    expect(frames).toBeGreaterThan(10);
    expect(frames).toBeLessThanOrEqual(Math.ceil(GLIDE_MS / FRAME_MS) + 2);
  });

  test("animates nothing for users who prefer reduced motion", () => {
    const { engine, settle } = startEngine();
    engine.setAnimated(false);
    engine.resize(SIZE, 1);
    engine.setMarkers([player(1, { x: 0, y: 0 })]);
    settle();
    engine.setMarkers([player(1, { x: 3000, y: 0 })]);
    engine.zoomIn();
    engine.fit();
    expect(settle()).toBe(1);
  });

  test("keeps a followed player in the middle", () => {
    const { engine, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers([player(1, { x: 0, y: 0 }), player(2, { x: 900, y: 900 })]);
    engine.follow("player 2");
    settle();
    expect(engine.viewport).toMatchObject({ x: 900, y: 900 });
    engine.setMarkers([player(1, { x: 0, y: 0 }), player(2, { x: 800, y: 950 })]);
    settle();
    expect(engine.viewport).toMatchObject({ x: 800, y: 950 });
    engine.zoomAround({ x: 1, y: 1 }, 2);
    settle();
    expect(engine.viewport).toMatchObject({ x: 800, y: 950 });
  });

  test("stops following when the user drags the map or the player leaves", () => {
    const { engine, events, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers(CROWD);
    engine.follow("player 2");
    settle();
    engine.drag(10, 0);
    engine.follow("player 3");
    engine.setMarkers(CROWD.filter(({ key }) => key !== "player 3"));
    expect(events).toEqual(["follow end", "follow end"]);
  });

  test("keeps the viewport that the user has moved, until the user fits it again", () => {
    const { engine, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers(CROWD);
    settle();
    engine.drag(100, 0);
    settle();
    const moved = engine.viewport;
    engine.setMarkers([...CROWD, player(999, { x: 9000, y: 9000 })]);
    settle();
    expect(engine.viewport).toEqual(moved);
    engine.fit();
    settle();
    expect(engine.viewport).not.toEqual(moved);
  });

  test("reports the marker under the pointer once", () => {
    const { engine, events, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers([player(1, { x: 50, y: 50 })]);
    settle();
    engine.hoverAt({ x: 401, y: 300 }, 14);
    engine.hoverAt({ x: 402, y: 300 }, 14);
    engine.hoverAt(undefined, 0);
    engine.selectAt({ x: 400, y: 301 }, 14);
    engine.selectAt({ x: 10, y: 10 }, 14);
    expect(events).toEqual(["hover player 1", "hover undefined", "select player 1", "select undefined"]);
  });
});
