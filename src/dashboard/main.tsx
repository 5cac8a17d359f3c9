// Starts the page.
import "./lazy-import.ts";
import "./page.css";
import { createRoot } from "react-dom/client";
import { App } from "./app.tsx";
import { ignoreStrayClicks } from "./frame/stray-clicks.ts";
import { startTranslation } from "./i18n.ts";

ignoreStrayClicks();
await startTranslation();
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element #root");
createRoot(root).render(<App />);
