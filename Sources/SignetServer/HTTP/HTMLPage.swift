import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import SignetCore

/// A page with one form, for a person with a browser.
struct HTMLPage: Sendable {
    let title: String
    /// Paragraphs of plain text.
    let paragraphs: [String]
    /// The form's hidden fields.
    var hidden: [(name: String, value: String)] = []
    /// A field to fill in: its name and its label. A form that has one only leads on to the next page, and changes nothing.
    var field: (name: String, label: String)?
    /// A box to tick: its name and its label.
    var box: (name: String, label: String)?
    /// The buttons: value of the field `decision`, and label.
    var buttons: [(value: String, label: String)] = []

    /// Asks whether a client may have what it asks for.
    static func consent(client: String, scopes: [String], hidden: [(name: String, value: String)]) -> HTMLPage {
        HTMLPage(
            title: "Allow \(client)?", paragraphs: ["\(client) asks for: \(scopes.joined(separator: ", "))"],
            hidden: hidden, box: ("save_consent", "Do not ask again"), buttons: [("allow", "Allow"), ("deny", "Deny")])
    }

    var response: Response {
        let bytes = Array(html.utf8)
        var headers: HTTPFields = [
            .contentType: "text/html; charset=UTF-8", .cacheControl: "no-store", .contentLength: String(bytes.count),
        ]
        headers.set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'")
        headers.set("X-Content-Type-Options", "nosniff")
        headers.set("Referrer-Policy", "no-referrer")
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
    }

    private var html: String {
        var lines = [
            "<!doctype html>", "<html lang=\"en\">", "<head><meta charset=\"utf-8\"><title>\(title.escaped)</title></head>",
            "<body><main>", "<h1>\(title.escaped)</h1>",
        ]
        lines += paragraphs.map { "<p>\($0.escaped)</p>" }
        if !buttons.isEmpty {
            lines.append("<form method=\"\(field == nil ? "post" : "get")\">")
            lines += hidden.map { "<input type=\"hidden\" name=\"\($0.name.escaped)\" value=\"\($0.value.escaped)\">" }
            if let field {
                lines.append("<p><label>\(field.label.escaped) <input name=\"\(field.name.escaped)\" required></label></p>")
            }
            if let box {
                let input = "<input type=\"checkbox\" name=\"\(box.name.escaped)\" value=\"on\">"
                lines.append("<p><label>\(input) \(box.label.escaped)</label></p>")
            }
            lines += buttons.map { "<button name=\"decision\" value=\"\($0.value.escaped)\">\($0.label.escaped)</button>" }
            lines.append("</form>")
        }
        return (lines + ["</main></body>", "</html>", ""]).joined(separator: "\n")
    }
}

extension String {
    /// The text with everything that means something in HTML written as a reference.
    fileprivate var escaped: String {
        replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;").replacing("\"", with: "&quot;")
            .replacing("'", with: "&#39;")
    }
}

extension DeskState {
    /// What a form of a session carries, so that nobody else can send it: bound to the session, and no use anywhere else.
    func csrf(of token: String) -> String {
        let mac = HMAC<SHA256>.authenticationCode(for: Array("csrf \(token)".utf8), using: authIDKey.key)
        return mac.withUnsafeBytes { Base64.encode($0, as: .url) }
    }
}
