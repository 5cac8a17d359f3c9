// Connects a map engine to a canvas: size, pixel ratio, colours, gestures, tooltip and the controls over it. React renders when
// a marker is hovered or selected, never for a frame.
import { useComputedColorScheme } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Gestures } from "./gestures.ts";
import { GroundLayer } from "./ground-layer.ts";
import type { Box } from "./label-layout.ts";
import { MapEngine, type MapListener } from "./map-engine.ts";
import { Painter } from "./painter.ts";
import type { Point, Size } from "./viewport.ts";

const TOOLTIP_GAP = 16;
/** A higher pixel ratio costs time and is not visibly sharper. */
const RATIO_MAX = 3;
const CONTROLS = ".map-buttons, .map-list-button, .map-following";
/** Room between a label and a control. */
const CONTROL_MARGIN_PX = 4;

/** Puts the tooltip beside the hovered marker, and hides it when no marker is hovered. */
export function useMapEngine(
  canvasRef: RefObject<HTMLCanvasElement | null>,
  tooltipRef: RefObject<HTMLElement | null>,
  listener: Omit<MapListener, "onHoveredPoint">,
): MapEngine | undefined {
  const [engine, setEngine] = useState<MapEngine>();
  const latest = useRef(listener);
  latest.current = listener;
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const isAnimated = !useReducedMotion(undefined, { getInitialValueInEffect: false });

  useLayoutEffect(() => {
    const canvas = canvasRef.current;
    const context = canvas?.getContext("2d", { alpha: false });
    if (!canvas || !context) return;
    const painter = new Painter(context, new GroundLayer(document.createElement("canvas")));
    const made = new MapEngine(
      (scene) => painter.paint(scene),
      {
        requestFrame: (draw) => requestAnimationFrame(draw),
        cancelFrame: (id) => cancelAnimationFrame(id),
        now: () => performance.now(),
      },
      {
        onHover: (key) => latest.current.onHover(key),
        onSelect: (key, isPicking) => latest.current.onSelect(key, isPicking),
        onFollowEnd: () => latest.current.onFollowEnd(),
        onHoveredPoint: (point, size) => moveTooltip(tooltipRef.current, point, size),
      },
    );
    const stopTracking = trackSize(canvas, made);
    const gestures = new Gestures(canvas, made);
    setEngine(made);
    return () => {
      gestures.stop();
      stopTracking();
      made.stop();
      setEngine(undefined);
    };
  }, [canvasRef, tooltipRef]);

  useEffect(() => engine?.set({ scheme, isAnimated }), [engine, scheme, isAnimated]);
  return engine;
}

/** Resizes the engine with the canvas and with the pixel ratio. Returns a function that stops it. */
function trackSize(canvas: HTMLCanvasElement, engine: MapEngine): () => void {
  const stopped = new AbortController();
  const measure = () => {
    const { clientWidth: width, clientHeight: height } = canvas;
    const ratio = Math.min(devicePixelRatio, RATIO_MAX);
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    engine.resize({ width, height }, ratio);
  };
  const observer = new ResizeObserver(measure);
  observer.observe(canvas);
  // The pixel ratio changes when the window moves to another screen or the page is zoomed.
  const listenForRatio = () => {
    const onChange = () => {
      measure();
      listenForRatio();
    };
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener("change", onChange, { once: true, signal: stopped.signal });
  };
  listenForRatio();
  return () => {
    observer.disconnect();
    stopped.abort();
  };
}

function moveTooltip(tooltip: HTMLElement | null, point: Point | undefined, size: Size): void {
  if (!tooltip) return;
  tooltip.style.visibility = point ? "visible" : "hidden";
  if (!point) return;
  const { offsetWidth, offsetHeight } = tooltip;
  const fits = point.x + TOOLTIP_GAP + offsetWidth <= size.width;
  const x = fits ? point.x + TOOLTIP_GAP : Math.max(0, point.x - TOOLTIP_GAP - offsetWidth);
  const y = Math.min(Math.max(0, point.y + TOOLTIP_GAP), Math.max(0, size.height - offsetHeight));
  tooltip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}

/** Keeps labels away from the buttons, and from the notice of the followed marker while `isFollowing`. */
export function useCoveredParts(
  engine: MapEngine | undefined,
  frameRef: RefObject<HTMLElement | null>,
  isFollowing: boolean,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the notice comes and goes with `isFollowing`
  useLayoutEffect(() => {
    const frame = frameRef.current;
    if (!engine || !frame) return;
    const controls = Array.from(frame.querySelectorAll(CONTROLS));
    const measure = () => engine.set({ covered: controls.map((control) => boxIn(frame, control)) });
    const observer = new ResizeObserver(measure);
    for (const element of [frame, ...controls]) observer.observe(element);
    measure();
    return () => observer.disconnect();
  }, [engine, frameRef, isFollowing]);
}

function boxIn(frame: Element, control: Element): Box {
  const around = frame.getBoundingClientRect();
  const box = control.getBoundingClientRect();
  const [x, y] = [around.left + frame.clientLeft, around.top + frame.clientTop];
  return {
    left: box.left - x - CONTROL_MARGIN_PX,
    top: box.top - y - CONTROL_MARGIN_PX,
    right: box.right - x + CONTROL_MARGIN_PX,
    bottom: box.bottom - y + CONTROL_MARGIN_PX,
  };
}
