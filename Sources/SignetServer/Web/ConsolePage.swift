import HTTPTypes
import Hummingbird
import SignetCore

/// The page of the console, whose scripts fill it.
struct ConsolePage: Sendable {
    let contextPath: String
    let issuer: String
    /// The value that the page's requests have (``ConsoleAccessMiddleware``).
    let csrf: String

    /// The tabs: the fragment of each address, and the title.
    static let tabs: KeyValuePairs<String, String> = [
        "overview": "Overview", "journeys": "Journeys", "users": "Users & devices", "sessions": "Sessions & tokens",
        "push": "Push",
        "emails": "Emails", "requests": "Requests", "faults": "Faults", "clock": "Clock",
    ]

    /// The page as an HTTP response.
    var response: Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        headers.setPageSecurity(framesOwnPages: true)
        return Response(Array(Markup.document(document).utf8), type: "text/html; charset=UTF-8", headers: headers)
    }

    private var document: Markup {
        tag("html", ["lang": "en"]) {
            tag("head") {
                void("meta", ["charset": "utf-8"])
                void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                void("meta", ["name": "color-scheme", "content": "light dark"])
                void("meta", ["name": "signet-console", "content": csrf])
                tag("title") { "Console · \(issuer)" }
                for style in [PageAsset.style, .consoleStyle] {
                    void("link", ["rel": "stylesheet", "href": style.consolePath(below: contextPath)])
                }
                void("link", ["rel": "icon", "type": "image/svg+xml", "href": PageAsset.icon.consolePath(below: contextPath)])
                tag("script", ["type": "module", "src": PageAsset.console.consolePath(below: contextPath)])
            }
            tag("body", ["class": "console", "data-path": contextPath]) {
                header
                tag("main", ["id": "main", "tabindex": "-1"]) {
                    tag("noscript") {
                        tag("p") { "The console needs scripts. The administration API at /admin does the same." }
                    }
                }
                tag("div", ["id": "messages", "role": "status", "aria-live": "polite"])
                tag("footer") {
                    "Keys: 1 to 9 choose a tab, / goes to the filter, Escape closes what is open. Signet server for development and tests"
                }
            }
        }
    }

    private var header: Markup {
        tag("header") {
            tag("a", ["href": "#main", "class": "skip", "id": "skip"]) { "Skip to the content" }
            tag("div", ["class": "bar"]) {
                void("img", ["src": PageAsset.icon.consolePath(below: contextPath), "alt": "", "width": "28", "height": "28"])
                tag("span", ["class": "issuer"]) { issuer }
                tag("h1") { "Console" }
                tag("span", ["id": "clock", "class": "quiet"])
                tag("button", ["type": "button", "class": "plain", "id": "live", "aria-pressed": "true"]) { "Live" }
            }
            tag("nav", ["aria-label": "Tabs"]) {
                tag("ul") {
                    for (name, title) in Self.tabs {
                        tag("li") { tag("a", ["href": "\(contextPath)/console#\(name)"]) { title } }
                    }
                }
            }
        }
    }
}
