module github.com/idmint/idmint/soak_test/browser

go 1.26.0

// Not published yet: the checkout is the only source.
replace github.com/idmint/idmint => ../../

require (
	github.com/chromedp/cdproto v0.159.0
	github.com/chromedp/chromedp v0.23.0
	github.com/idmint/idmint v0.0.0-00010101000000-000000000000
)

require github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
