import HTTPTypes
import SignetCore

// The fault injection and the request log in the console.

extension AdminOperations {
    /// Enables the fault that a form of the console describes.
    func enableFault(_ form: Parameters) throws {
        func number(_ name: String) throws(APIError) -> Int? {
            guard let text = form[name] else { return nil }
            guard let number = Int(text) else { throw APIError(.badRequest, "\(name) is an integer.") }
            return number
        }
        guard var kind = FaultKind.examples.first(where: { $0.name == form["kind"] }) else {
            throw APIError(.badRequest, "\(FaultError.unknownKind(String((form["kind"] ?? "").prefix(64))))")
        }
        let value = try number("value")
        switch kind {
        case .latency: kind = .latency(.milliseconds(value ?? 1000))
        case .status: kind = .status(value ?? 503)
        case .cut: kind = .cut(after: value)
        case .truncated: kind = .truncated(after: value)
        default:
            guard value == nil else { throw APIError(.badRequest, "A fault of the kind \(kind.name) has no value.") }
        }
        let extent = try number("times").map { FaultRule.Extent.times($0) } ?? .untilDisabled
        let route = FaultRoute(form["route"] ?? "")
        do {
            try enable(FaultRule(kind, name: unusedName(kind, at: route), at: route, extent))
        } catch {
            throw APIError(.badRequest, "\(error)")
        }
    }

    /// Returns a name that no other fault has, because a fault with an existing name would replace that one.
    private func unusedName(_ kind: FaultKind, at route: FaultRoute) -> String {
        let used = Set(server.faults.entries.map(\.rule.name))
        // A path cannot be part of a name.
        let base = FaultRoute.names.contains(route.text) ? "\(kind.name)-\(route.text)" : kind.name
        let names = [kind.name, base] + (2...FaultTable.size + 1).map { "\(base)-\($0)" }
        return names.first { !used.contains($0) } ?? kind.name
    }
}

extension ConsoleView {
    var faults: Markup {
        table(.faults, "Faults", ["Name", "", "Kind", "Where", "Client", "Applied", "Left"], facts.faults) { row in
            cell { tag("code") { row.rule.name } }
            cell {
                form("fault/disable") {
                    PagePart.hidden("name", row.rule.name)
                    tag("button", ["class": "plain", "aria-label": "Disable \(row.rule.name)"]) { "Disable" }
                }
            }
            cell { row.rule.kind.summary }
            cell { row.rule.route == .everywhere ? "everywhere" : row.rule.route.text }
            cell { row.rule.client?.description ?? "all clients" }
            cell { String(row.applied) }
            cell { row.remaining.map { String($0) } ?? "" }
        }
            + section("Enable a fault") {
                form("fault") {
                    list("Kind", "kind", FaultKind.examples.map { ($0.name, $0.name) })
                    list("Where", "route", [("", "everywhere")] + facts.routes.map { ($0, $0) })
                    field("Times", "times")
                    field("Value", "value")
                    PagePart.button("Enable", isMain: false)
                }
                tag("p", ["class": "quiet"]) {
                    "Without times it stays until it is disabled. The value is the milliseconds of latency, the status, or after "
                        + "how many bytes an answer is cut or truncated."
                }
            }
    }

    var requestLog: Markup {
        table(
            .requestLog, "Request log", ["", "Time", "What", "Path or message", "Status", "Took", "Faults"], facts.entries
        ) { row in
            cell { String(row.number) }
            cell { time(row.at) }
            switch row.event {
            case .request(let request):
                cell { request.method }
                cell { tag("code") { request.path } }
                cell { request.status == 0 ? "cut" : String(request.status) }
                cell { Self.milliseconds(request.duration) }
            case .push(let push):
                cell { "push \(push.step.rawValue)" }
                cell { tag("code") { push.messageID } }
                cell { push.reason ?? push.stream.map { "stream \($0)" } ?? "" }
                cell { "" }
            case .email(let email):
                cell { "email" }
                cell { "to \(email.user)" }
                cell { "" }
                cell { "" }
            case .sns(let request):
                cell { "to SNS" }
                cell { tag("code") { request.action } }
                cell { request.status == 0 ? "no answer" : String(request.status) }
                cell { Self.milliseconds(request.duration) }
            case .logout(let logout):
                cell { "logout token" }
                cell { "to \(logout.client)" }
                cell { logout.status == 0 ? "no answer" : String(logout.status) }
                cell { Self.milliseconds(logout.duration) }
            }
            cell { row.faults.joined(separator: ", ") }
        }
    }

    private static func milliseconds(_ duration: Duration) -> String {
        let milliseconds = duration / .milliseconds(1)
        return "\(milliseconds < 1 ? "<\u{A0}1" : String(Int(milliseconds)))\u{A0}ms"
    }

    private func list(_ label: String, _ name: String, _ options: [(value: String, text: String)]) -> Markup {
        tag("label", ["for": "fault-\(name)"]) { label }
            + tag("select", ["id": "fault-\(name)", "name": name]) {
                for option in options { tag("option", ["value": option.value]) { option.text } }
            }
    }

    private func field(_ label: String, _ name: String) -> Markup {
        tag("label", ["for": "fault-\(name)"]) { label }
            + void("input", ["id": "fault-\(name)", "name": name, "inputmode": "numeric"])
    }
}

extension FaultKind {
    /// The name of the kind with its parameters.
    fileprivate var summary: String {
        switch self {
        case .latency(let duration): "\(name), \(Int(duration / .milliseconds(1)))\u{A0}ms"
        case .status(let status, let seconds): "\(name) \(status)" + (seconds.map { ", Retry-After \($0)" } ?? "")
        case .cut(let bytes?), .truncated(let bytes?): "\(name) after \(bytes) bytes"
        default: name
        }
    }
}
