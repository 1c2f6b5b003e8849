// The page keeps the entered key in memory only, and sends the document to no validator.
window.addEventListener("load", () => {
  let isFolded = false;
  window.SwaggerUIBundle({
    url: "openapi.json",
    dom_id: "#page",
    deepLinking: true,
    docExpansion: "list",
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    persistAuthorization: false,
    validatorUrl: null,
    // The first answer is the document itself; later ones are those of tried requests, which stay as they are.
    responseInterceptor: (response) => {
      if (!isFolded) {
        isFolded = true;
        response.text = withFoldedConventions(response.text);
      }
      return response;
    },
  });
});

// The document with everything below the first paragraph of its description folded, so that the first operation is on the
// first screen. A document of another shape stays as it is.
function withFoldedConventions(text) {
  try {
    const parsed = JSON.parse(text);
    const [first, ...rest] = parsed.info.description.split("\n\n");
    if (rest.length === 0) {
      return text;
    }
    const titles = rest.filter((part) => part.startsWith("#")).map((part) => part.replace(/^#+ */, "").split("\n")[0]);
    const summary = `<details><summary>Read first: ${titles.join(", ").toLowerCase()}</summary>`;
    parsed.info.description = [first, summary, ...rest, "</details>"].join("\n\n");
    return JSON.stringify(parsed);
  } catch {
    return text;
  }
}
