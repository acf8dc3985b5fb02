// Reads the embedded result and shows it.
import { render } from "preact";
import "uplot/dist/uPlot.min.css";
import "./style/base.css";
import "./style/source.css";
import "./style/instructions.css";
import "./style/plots.css";
import "./style/why.css";
import "./style/sharing.css";
import { App } from "./app";
import { readPageData } from "./result";
import { SharingPage, titleOf } from "./sharing_page";
import { startTheme } from "./theme";
import { WhyPage } from "./why_page";

startTheme();
const page = document.getElementById("page")!;
page.textContent = "";
try {
  const data = readPageData(document);
  if (data.results.length === 0 && data.significance) {
    document.title = "Why – Warplens";
    render(<WhyPage found={data.significance} />, page);
  } else if (data.results.length === 0 && data.sharing) {
    document.title = `${titleOf(data.sharing)} – Warplens`;
    render(<SharingPage report={data.sharing} sources={data.sources} />, page);
  } else {
    document.title = `${data.results.map((entry) => entry.label).join(" → ")} – Warplens`;
    render(<App data={data} />, page);
  }
} catch (error) {
  const note = document.createElement("p");
  note.className = "empty";
  note.textContent = error instanceof Error ? error.message : String(error);
  page.append(note);
}
