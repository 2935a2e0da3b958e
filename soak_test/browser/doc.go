// Package browser tests in Chromium what people look at: the report's page, and the page of the
// launch log. Chromium is Debian's, chromedp drives it, and axe-core looks for what keeps people
// from reading. scripts/browser fetches both.
//
// With IDMINT_SCREENSHOTS set, the same tests write the pictures of docs/screenshots.
package browser
