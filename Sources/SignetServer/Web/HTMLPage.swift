import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore

/// An HTML page with one column and a heading, and with the header and footer that all pages share.
struct HTMLPage: Sendable {
    var title: String
    var status = HTTPResponse.Status.ok
    /// The purpose of the page, which is shown below the heading and above the content.
    var purpose: String?
    /// The logo of the client to which the page belongs: an address as ``PageImage`` permits.
    var clientLogo: String?
    /// The content below the heading.
    var content = Markup.nothing
    /// The Content-Security-Policy sources to which a form of this page may lead the browser, in addition to this server.
    var formTargets: [String] = []
    /// The value of `Referrer-Policy`.
    var referrerPolicy = "same-origin"
    /// The time in seconds after which a browser without scripts reloads the page; nil for never.
    var refresh: Int?
    var headers: HTTPFields = [:]

    /// Returns the page as an HTTP response.
    func response(at server: ServerContext) -> Response {
        let settings = server.holder.current.settings
        let bytes = Array(Markup.document(document(server.contextPath, settings)).utf8)
        var fields = headers
        fields[.cacheControl] = "no-store"
        let images = [settings.configuration.logo, clientLogo].compactMap { $0.flatMap(PageImage.source) }
        fields.setPageSecurity(formTargets: formTargets, referrerPolicy: referrerPolicy, images: images)
        return Response(bytes, type: "text/html; charset=UTF-8", status, headers: fields)
    }

    private func document(_ contextPath: String, _ settings: SharedSettings) -> Markup {
        let (issuer, logo, accent) = (
            settings.configuration.issuer, settings.configuration.logo, settings.configuration.accentColor
        )
        let language = PageLanguage.current
        return tag("html", ["lang": language.tag.text, "dir": language.tag.isRightToLeft ? "rtl" : nil]) {
            tag("head") {
                void("meta", ["charset": "utf-8"])
                void("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
                void("meta", ["name": "color-scheme", "content": "light dark"])
                tag("title") { "\(title) · \(issuer)" }
                void("link", ["rel": "stylesheet", "href": PageAsset.style.path(below: contextPath)])
                if let accent {
                    void("link", ["rel": "stylesheet", "href": "\(contextPath)/XUI/colors.css?v=\(accent.percentEncoded())"])
                }
                void("link", ["rel": "icon", "type": "image/svg+xml", "href": PageAsset.icon.path(below: contextPath)])
                tag("script", ["src": PageAsset.script.path(below: contextPath), "defer": ""])
                if let refresh {
                    tag("noscript") { void("meta", ["http-equiv": "refresh", "content": String(refresh)]) }
                }
            }
            tag("body") {
                tag("header") {
                    // The alternative text is empty because the name is next to the image.
                    if let logo {
                        void("img", ["src": logo, "alt": "", "class": "logo"])
                    } else {
                        void("img", ["src": PageAsset.icon.path(below: contextPath), "alt": "", "width": "28", "height": "28"])
                    }
                    tag("span") { issuer }
                }
                tag("main") {
                    if let clientLogo { void("img", ["src": clientLogo, "alt": "", "class": "logo client"]) }
                    tag("h1") { title }
                    if let purpose { tag("p", ["class": "purpose"]) { purpose } }
                    content
                }
                tag("footer") { localized(.footer) }
            }
        }
    }
}

extension HTTPFields {
    /// Sets security headers.
    ///
    /// The page can only load resources from this server, cannot contain inline scripts or styles, cannot be framed, and shares no
    /// window reference with pages of other origins (`Cross-Origin-Opener-Policy`). It sends `Referer` to this server only: with
    /// `no-referrer`, browsers would send `Origin: null` with its forms, and with `same-origin` they send that to other servers.
    ///
    /// - Parameters:
    ///   - formTargets: The sources to which a form may lead the browser, in addition to this server.
    ///   - referrerPolicy: The value of `Referrer-Policy`.
    ///   - framesOwnPages: True for a page that shows other pages of this server in frames.
    ///   - images: The sources of images, in addition to this server.
    mutating func setPageSecurity(
        formTargets: [String] = [], referrerPolicy: String = "same-origin", framesOwnPages: Bool = false, images: [String] = []
    ) {
        let targets = (["'self'"] + formTargets).joined(separator: " ")
        set(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src \((["'self'"] + images).joined(separator: " ")); "
                + "connect-src 'self'; "
                + (framesOwnPages ? "frame-src 'self'; " : "")
                + "form-action \(targets); base-uri 'none'; frame-ancestors 'none'")
        set("X-Content-Type-Options", "nosniff")
        set("X-Frame-Options", "DENY")
        set("Referrer-Policy", referrerPolicy)
        set("Cross-Origin-Opener-Policy", "same-origin")
    }
}

/// The static files of the pages, below `/XUI`, and of the console, below `/console/assets`.
enum PageAsset: String, CaseIterable {
    case style = "app.css"
    case script = "app.js"
    case icon = "app.svg"
    case consoleStyle = "console.css"
    case console = "console.js"
    case consoleParts = "console-parts.js"
    case consoleActivity = "console-activity.js"
    case consoleState = "console-state.js"

    /// The files of the login pages.
    static let ofPages: [PageAsset] = [.style, .script, .icon]
    /// The files of the console.
    static let ofConsole = allCases.filter { $0 != .script }

    private var bytes: [UInt8] {
        switch self {
        case .style: PackageResources.app_css
        case .script: PackageResources.app_js
        case .icon: PackageResources.app_svg
        case .consoleStyle: PackageResources.console_css
        case .console: PackageResources.console_js
        case .consoleParts: PackageResources.console_parts_js
        case .consoleActivity: PackageResources.console_activity_js
        case .consoleState: PackageResources.console_state_js
        }
    }

    private var type: String {
        switch self {
        case .style, .consoleStyle: "text/css; charset=UTF-8"
        case .icon: "image/svg+xml"
        default: "text/javascript; charset=UTF-8"
        }
    }

    /// False for a module that another one imports, by an address without a hash.
    private var hasOwnAddress: Bool { ![.consoleParts, .consoleActivity, .consoleState].contains(self) }

    /// Returns the URL of the file.
    ///
    /// It contains a hash of the content, so that browsers can cache the file permanently.
    func path(below contextPath: String) -> String { "\(contextPath)/XUI/\(addressed)" }

    /// Returns the URL of the file for the console, whose requests are not in the request log.
    func consolePath(below contextPath: String) -> String { "\(contextPath)/console/assets/\(addressed)" }

    private var addressed: String { "\(rawValue)?v=\(Self.versions[self] ?? "")" }

    private static let versions = Dictionary(
        uniqueKeysWithValues: allCases.map { asset in
            (asset, Base64.encode(Array(SHA256.hash(data: asset.bytes).prefix(9)), as: .url))
        })

    var response: Response {
        var headers: HTTPFields = [.cacheControl: hasOwnAddress ? "public, max-age=31536000, immutable" : "no-store"]
        headers.setPageSecurity()
        return Response(bytes, type: type, headers: headers)
    }
}

/// Elements that several pages share.
enum PagePart {
    static func hidden(_ name: String, _ value: String) -> Markup {
        void("input", ["type": "hidden", "name": name, "value": value])
    }

    static func button(_ label: String, name: String? = nil, value: String? = nil, isMain: Bool = true) -> Markup {
        tag("button", ["type": "submit", "name": name, "value": value, "class": isMain ? nil : "plain"]) { label }
    }

    static func link(_ label: String, to address: String) -> Markup {
        tag("div", ["class": "buttons"]) { tag("a", ["href": address, "class": "button"]) { label } }
    }

    /// Returns a button that copies the text of elements.
    ///
    /// The page's script shows in it that it has copied the text, or that the browser does not allow it.
    static func copyButton(_ selector: String) -> Markup {
        tag(
            "button",
            [
                "type": "button", "class": "plain", "data-copy": selector, "data-copied": localized(.copied),
                "data-refused": localized(.copyRefused),
            ]
        ) { localized(.copy) }
    }

    /// Returns an important message, which gets the focus.
    static func alert(_ text: String) -> Markup {
        tag("div", ["class": "note error", "role": "alert", "tabindex": "-1", "autofocus": ""]) { tag("p") { text } }
    }
}
