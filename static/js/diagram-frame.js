// What runs in the frame of diagrams (templates/diagrams/frame.html): a text comes from the page around it, a drawing goes back.
// The frame has no origin, so that whatever a text makes of it finds neither the page nor the login. Therefore a classic script.
{
  const LONGEST = 20_000; // characters of a text

  async function draw({ text, dark }) {
    if (text.length > LONGEST) throw new Error(`It has more than ${LONGEST} characters.`);
    mermaid.initialize({
      startOnLoad: false,
      securityLevel: "strict",
      suppressErrorRendering: true,
      theme: dark ? "dark" : "neutral",
      darkMode: dark,
      fontFamily: "system-ui, sans-serif",
      htmlLabels: false,
      flowchart: { htmlLabels: false },
    });
    const { svg } = await mermaid.render("diagram", text);
    const box = document.createElement("div");
    box.innerHTML = svg;
    const drawing = box.querySelector("svg");
    const { width, height } = drawing.viewBox.baseVal;
    drawing.removeAttribute("style");
    drawing.setAttribute("width", Math.ceil(width));
    drawing.setAttribute("height", Math.ceil(height));
    return new XMLSerializer().serializeToString(drawing);
  }

  addEventListener("message", async ({ source, origin, data }) => {
    if (source !== parent) return;
    const answer = await draw(data).then((svg) => ({ svg }), (error) => ({ problem: String(error?.message ?? error) }));
    parent.postMessage({ number: data.number, ...answer }, origin);
  });
}
