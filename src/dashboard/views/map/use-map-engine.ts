// Connects a map engine to a canvas: size, pixel ratio, colours, gestures. React renders when a marker is hovered or
// selected, never for a frame.
import { useComputedColorScheme } from "@mantine/core";
import { useReducedMotion } from "@mantine/hooks";
import { type RefObject, useEffect, useLayoutEffect, useRef, useState } from "react";
import { Gestures } from "./gestures.ts";
import { GroundLayer } from "./ground-layer.ts";
import { MapEngine } from "./map-engine.ts";
import { Painter } from "./painter.ts";
import type { Point, Size } from "./viewport.ts";

export type MapCallbacks = {
  readonly onHover: (key: string | undefined) => void;
  readonly onSelect: (key: string | undefined) => void;
  readonly onFollowEnd: () => void;
};

const TOOLTIP_GAP = 16;
/** A higher pixel ratio costs time and is not visibly sharper. */
const RATIO_MAX = 3;

/** Places the tooltip beside the hovered marker, and hides it when no marker is hovered. */
export function useMapEngine(
  canvasRef: RefObject<HTMLCanvasElement | null>,
  tooltipRef: RefObject<HTMLElement | null>,
  callbacks: MapCallbacks,
): MapEngine | undefined {
  const [engine, setEngine] = useState<MapEngine>();
  const latest = useRef(callbacks);
  latest.current = callbacks;
  const scheme = useComputedColorScheme("light", { getInitialValueInEffect: false });
  const prefersReducedMotion = useReducedMotion(undefined, { getInitialValueInEffect: false });

  useLayoutEffect(() => {
    const canvas = canvasRef.current;
    const context = canvas?.getContext("2d", { alpha: false });
    if (!canvas || !context) return;
    const made = new MapEngine(
      new Painter(context, new GroundLayer(() => document.createElement("canvas"))),
      {
        requestFrame: (draw) => requestAnimationFrame(draw),
        cancelFrame: (id) => cancelAnimationFrame(id),
        now: () => performance.now(),
      },
      {
        onHover: (key) => latest.current.onHover(key),
        onSelect: (key) => latest.current.onSelect(key),
        onFollowEnd: () => latest.current.onFollowEnd(),
        onHoveredPlace: (place, size) => placeTooltip(tooltipRef.current, place, size),
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

  useEffect(() => engine?.setScheme(scheme), [engine, scheme]);
  useEffect(() => engine?.setAnimated(!prefersReducedMotion), [engine, prefersReducedMotion]);
  return engine;
}

/** Resizes the engine with the canvas and with the pixel ratio. Returns a function that stops it. */
function trackSize(canvas: HTMLCanvasElement, engine: MapEngine): () => void {
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
  let ratioQuery: MediaQueryList | undefined;
  const listenForRatio = () => {
    ratioQuery = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    ratioQuery.addEventListener("change", onRatioChange, { once: true });
  };
  const onRatioChange = () => {
    measure();
    listenForRatio();
  };
  listenForRatio();
  return () => {
    observer.disconnect();
    ratioQuery?.removeEventListener("change", onRatioChange);
  };
}

function placeTooltip(tooltip: HTMLElement | null, place: Point | undefined, size: Size): void {
  if (!tooltip) return;
  tooltip.style.visibility = place ? "visible" : "hidden";
  if (!place) return;
  const { offsetWidth, offsetHeight } = tooltip;
  const fits = place.x + TOOLTIP_GAP + offsetWidth <= size.width;
  const x = fits ? place.x + TOOLTIP_GAP : Math.max(0, place.x - TOOLTIP_GAP - offsetWidth);
  const y = Math.min(Math.max(0, place.y + TOOLTIP_GAP), Math.max(0, size.height - offsetHeight));
  tooltip.style.transform = `translate(${Math.round(x)}px, ${Math.round(y)}px)`;
}
