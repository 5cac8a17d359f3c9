// The views "live" and "calls" in one lazy file: what several lazy files import would be loaded with the page.
export { CallsView } from "../calls/calls-view.tsx";
export { LiveView } from "./live-view.tsx";
