// What the map draws, how often, and what the user can do with it.
import { describe, expect, test } from "bun:test";
import { EMPTY_GROUND } from "./ground.ts";
import { GLIDE_MS, MapEngine, ZOOM_STEP } from "./map-engine.ts";
import type { Marker, PlayerMarker } from "./markers.ts";
import { findRoundStep, MARKER_LABELS_MAX, Painter, type Scene } from "./painter.ts";
import { fitTo, toScreen } from "./viewport.ts";

const TEAMS = ["Civilian", "Police", "Sheriff", "Fire", "DOT", "Jail"];
const SIZE = { width: 800, height: 600 };
const FRAME_MS = 16;
const NO_GROUND = { draw: () => {} };

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
    isCalling: false,
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
  const points: [x: number, y: number][] = [];
  const context = new Proxy(
    {},
    {
      get: (_target, name: string) => (text: unknown, x: number, y: number) => {
        calls[name] = (calls[name] ?? 0) + 1;
        if (name === "fillText") {
          texts.push(String(text));
          points.push([x, y]);
        }
        return { width: 40 };
      },
      set: () => true,
    },
  ) as CanvasRenderingContext2D;
  return { calls, texts, points, context };
}

type TextBox = { readonly left: number; readonly right: number; readonly top: number; readonly bottom: number };

function isOver(a: TextBox, b: TextBox): boolean {
  return a.left < b.right - 1 && a.right > b.left + 1 && a.top < b.bottom - 1 && a.bottom > b.top + 1;
}

/** A canvas that keeps the boxes of its texts; the stars after a name count as a text of their own. */
function recordTexts() {
  const boxes: TextBox[] = [];
  const widthOf = (text: string) => text.length * 7;
  const context = new Proxy(
    {},
    {
      get: (_target, name: string) => (text: string, x: number, y: number) => {
        if (name === "fillText") boxes.push({ left: x, right: x + widthOf(text), top: y - 6, bottom: y + 6 });
        return { width: name === "measureText" ? widthOf(text) : 0 };
      },
      set: () => true,
    },
  ) as CanvasRenderingContext2D;
  return { boxes, context };
}

type Look = Partial<Omit<Scene, "placed">> & { readonly markers?: readonly Marker[] };

/** Draws markers with a new painter, or with the given one. */
function paint(context: CanvasRenderingContext2D, { markers = CROWD, ...look }: Look = {}, painter = paintOn(context)) {
  const { viewport = fitTo(markers, SIZE), size = SIZE } = look;
  const placed = markers
    .map((marker) => ({ marker, ...toScreen(viewport, size, marker) }))
    .filter(({ x, y }) => x >= 0 && y >= 0 && x <= size.width && y <= size.height);
  painter.paint({
    viewport,
    size,
    ratio: 1,
    scheme: "light",
    ground: EMPTY_GROUND,
    backdrop: undefined,
    selected: undefined,
    picked: new Set(),
    hovered: undefined,
    covered: [],
    ...look,
    placed,
  });
}

function paintOn(context: CanvasRenderingContext2D): Painter {
  return new Painter(context, NO_GROUND);
}

function startEngine() {
  let now = 0;
  let next: ((now: number) => void) | undefined;
  const counts = { frames: 0, painted: 0 };
  const events: string[] = [];
  const engine = new MapEngine(
    () => {
      counts.painted += 1;
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
      onHoveredPoint: () => {},
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

const AROUND_ORIGIN = { x: 0, y: 0, scale: 1 };

describe("drawing", () => {
  test("shows each of 200 players, with a limited number of labels", () => {
    const { calls, texts, context } = countCalls();
    paint(context);
    expect(calls.arc).toBe(200);
    expect(calls.fill).toBe(200);
    expect(texts.filter((text) => !text.includes("★")).length).toBeLessThanOrEqual(MARKER_LABELS_MAX);
  });

  test("measures a text once, not in every frame", () => {
    const { calls, context } = countCalls();
    const painter = paintOn(context);
    const look = { selected: "player 3", hovered: "player 4" };
    paint(context, look, painter);
    const { measureText } = calls;
    paint(context, look, painter);
    expect(calls.measureText).toBe(measureText ?? 0);
  });

  test("draws no label over another, and that of the selected marker first", () => {
    const { texts, context } = countCalls();
    const markers = Array.from({ length: 30 }, (_, n) => player(n, { x: 0, y: 0, stars: 0 }));
    paint(context, { markers, viewport: AROUND_ORIGIN, selected: "player 7" });
    // One label on each side; that of the selected marker lies over the players.
    expect(texts).toEqual(["P-0", "P-1", "P-2", "P-7"]);
  });

  test("draws a label beside another marker, not below it", () => {
    const { points, context } = countCalls();
    const markers = [player(0, { x: 0, y: 0, stars: 0 }), player(1, { x: 25, y: 2, stars: 0 })];
    paint(context, { markers, viewport: AROUND_ORIGIN });
    const [middleX, middleY] = [SIZE.width / 2, SIZE.height / 2];
    // Every text is measured as 40 pixels wide.
    expect(points).toEqual([
      [middleX - 10 - 40, middleY],
      [middleX + 25 + 10, middleY + 2],
    ]);
  });

  test("draws no label under a button or over another one on a phone", () => {
    const { points, context } = countCalls();
    const size = { width: 356, height: 472 };
    const buttons = { left: 298, top: 8, right: 348, bottom: 152 };
    const markers = CROWD.map((marker) => ({ ...marker, stars: 0 }));
    paint(context, { markers, viewport: fitTo(markers, size), size, ratio: 3, scheme: "dark", covered: [buttons] });
    expect(points.length).toBeGreaterThan(20);
    // Every text is measured as 40 pixels wide.
    const isOver = ([x, y]: [number, number], left: number, top: number, right: number, bottom: number) =>
      x < right && x + 40 > left && y - 7 < bottom && y + 7 > top;
    for (const [index, point] of points.entries()) {
      expect(isOver(point, buttons.left, buttons.top, buttons.right, buttons.bottom)).toBe(false);
      for (const [x, y] of points.slice(0, index)) expect(isOver(point, x, y - 7, x + 40, y + 7)).toBe(false);
    }
  });

  test.each([60, 90, 150])("draws no label over another or over a player: %i players at every zoom", (count) => {
    const markers = Array.from({ length: count }, (_, n) =>
      // Most have no callsign, and are labelled by their names.
      player(n, { label: n % 3 === 0 ? `P-${n}` : `A player ${n}`, callsign: n % 3 === 0 ? "P" : "", stars: n % 7 }),
    );
    const fitted = fitTo(markers, SIZE);
    for (const zoom of [0.3, 0.7, 1, 1.6, 3, 8]) {
      const viewport = { ...fitted, scale: fitted.scale * zoom };
      const { boxes, context } = recordTexts();
      paint(context, { markers, viewport });
      for (const [index, box] of boxes.entries()) {
        for (const other of boxes.slice(0, index)) expect(isOver(box, other)).toBe(false);
        for (const marker of markers) {
          const { x, y } = toScreen(viewport, SIZE, marker);
          expect(isOver(box, { left: x - 5, right: x + 5, top: y - 5, bottom: y + 5 })).toBe(false);
        }
      }
      // In the first view of a full server most players have their label.
      if (count === 60 && zoom === 1) expect(boxes.length).toBeGreaterThan(50);
    }
  });

  test("rings who waits for a moderator and who is picked, and crosses kills out", () => {
    const { calls, context } = countCalls();
    const killed = { name: "Ann", id: "1" };
    const place = { key: "kill", x: 9, y: 9, team: "", label: "" };
    const markers: Marker[] = [
      { kind: "kill", ...place, killed, killer: undefined, at: 0, step: 1 },
      player(1, { isCalling: true }),
      player(2),
      player(3),
    ];
    paint(context, { markers, picked: new Set(["player 2"]) });
    // A circle for each player, and a ring for two of them.
    expect(calls.arc).toBe(5);
    expect(calls.fillText).toBe(3);
  });

  test("places the grid lines at round numbers", () => {
    expect([0.7, 1, 3, 70, 501].map(findRoundStep)).toEqual([1, 1, 5, 100, 1000]);
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
    engine.set({ selected: "player 3" });
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
    engine.set({ isAnimated: false });
    engine.resize(SIZE, 1);
    engine.setMarkers([player(1, { x: 0, y: 0 })]);
    settle();
    engine.setMarkers([player(1, { x: 3000, y: 0 })]);
    engine.zoom(ZOOM_STEP);
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

  test("draws only markers on the screen, and selects the nearest of them", () => {
    const { engine, events, settle } = startEngine();
    engine.resize(SIZE, 1);
    engine.setMarkers([...CROWD, player(999, { x: 1e6, y: 1e6 })]);
    settle();
    for (let n = 0; n < 300; n += 1) {
      const at = { x: (n * 97) % 800, y: (n * 61) % 600 };
      events.length = 0;
      engine.selectAt(at, 24);
      const distances = CROWD.map((marker) => {
        const { x, y } = toScreen(engine.viewport, SIZE, marker);
        return Math.hypot(x - at.x, y - at.y);
      });
      const nearest = Math.min(...distances);
      const expected = nearest <= 24 ? CROWD[distances.lastIndexOf(nearest)]?.key : undefined;
      expect(events).toEqual([`select ${expected}`]);
    }
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
