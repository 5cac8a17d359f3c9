// Everything that shows alerts, in one file that is loaded when there is the first of them.
export { AlertText } from "./alert-text.tsx";
export { RaisedAlerts } from "./raised-alerts.tsx";
