import SignetCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the console shows, read in one go.
struct ConsoleFacts: Sendable {
    /// The most rows of a table; the newest are shown.
    static let rows = 200

    struct UserRow: Sendable {
        let user: UserKey
        let isLocked: Bool
        let devices: [String]
    }

    struct SessionRow: Sendable {
        let key: BearerKey
        let session: SSOSession
    }

    struct PushRow: Sendable {
        let push: PendingPush
        let user: UserKey?
    }

    let now: Date
    let offset: Double
    let baseURL: String
    let users: [UserRow]
    let userCount: Int
    let sessions: [SessionRow]
    let sessionCount: Int
    let pushes: [PushRow]
    let letters: [(user: UserKey, link: String)]
    let journeys: [String]
    let requests: [Journal.Entry]

    init(_ desk: Desk) {
        offset = desk.clock.offset
        requests = desk.journal.entries.suffix(Self.rows).reversed()
        let (now, baseURL, users, sessions, pushes, letters, journeys) = desk.transact { state, moment in
            let all = state.directory.users
            let users = all.prefix(Self.rows).map { user in
                UserRow(
                    user: user, isLocked: state.directory[user]?.isLocked ?? false,
                    devices: DeviceKind.allCases.flatMap { kind in
                        state.devices.descriptions(kind, of: user).map { "\(kind.rawValue): \($0.deviceName)" }
                    })
            }
            let pushes = state.pushes.all(at: moment.now).sorted { $0.sentAt > $1.sentAt }.prefix(Self.rows).map { push in
                PushRow(push: push, user: state.devices.pushDevice(mechanismUID: push.mechanismUID)?.owner)
            }
            return (
                moment.now, moment.baseURL, (users, all.count), state.sessions.all(at: moment.now), pushes, state.outbox.all,
                state.trees.keys.sorted()
            )
        }
        self.now = now
        self.baseURL = baseURL
        (self.users, userCount) = users
        self.sessions = sessions.sorted { $0.session.startedAt > $1.session.startedAt }.prefix(Self.rows)
            .map { SessionRow(key: $0.key, session: $0.session) }
        sessionCount = sessions.count
        self.pushes = Array(pushes)
        self.letters = letters
        self.journeys = journeys
    }
}

extension JSONValue {
    fileprivate var deviceName: String { self["deviceName"]?.string ?? self["alias"]?.string ?? "" }
}

/// The console as a page.
struct ConsoleView: Sendable {
    let contextPath: String
    let csrf: String
    let facts: ConsoleFacts

    var page: HTMLPage {
        HTMLPage(
            title: "Console",
            content: tag("p", ["class": "quiet"]) { facts.baseURL }
                + tag("p") { tag("a", ["href": "\(contextPath)/console", "class": "button plain"]) { "Look again" } }
                + clock + sessions + pushes + letters + users + requests + journeys + others,
            isWide: true)
    }

    // MARK: Clock

    private var clock: Markup {
        let moves: [(String, Int)] = [("+30 s", 30), ("+1 min", 60), ("+5 min", 300), ("+1 h", 3600), ("+1 day", 86_400)]
        return section("Clock") {
            tag("p") {
                SessionPages.time(facts.now)
                facts.offset == 0 ? " · the machine's" : " · moved by \(Self.seconds(facts.offset))"
            }
            form("clock") {
                for (label, seconds) in moves { PagePart.button(label, name: "seconds", value: String(seconds), isMain: false) }
            }
            form("clock") {
                tag("label", ["for": "seconds"]) { "Seconds" }
                void("input", ["id": "seconds", "name": "seconds", "inputmode": "decimal", "required": ""])
                PagePart.button("Move", isMain: false)
            }
            form("clock/reset") { PagePart.button("Back to the machine's time", isMain: false) }
        }
    }

    private static func seconds(_ seconds: Double) -> String {
        "\(seconds < 0 ? "-" : "+")\(Duration.seconds(abs(seconds)))".replacing(".0 seconds", with: " s")
    }

    // MARK: Tables

    private var sessions: Markup {
        table(
            "Sessions", count: facts.sessionCount, ["User", "", "Realm", "Journeys", "Signed in", "Unused until", "Until"],
            facts.sessions
        ) { row in
            cell { row.session.user.name }
            // Where nobody has to look for it, however narrow the screen is.
            cell {
                form("session") {
                    PagePart.hidden("key", row.key.text)
                    tag("button", ["class": "plain", "aria-label": "End the session of \(row.session.user.name)"]) { "End" }
                }
            }
            cell { row.session.user.realm.description }
            cell { row.session.trees.sorted().joined(separator: ", ") }
            cell { SessionPages.time(row.session.authenticatedAt) }
            cell { SessionPages.time(row.session.idleEnd) }
            cell { SessionPages.time(row.session.end) }
        }
    }

    private var pushes: Markup {
        table(
            "Push messages", count: facts.pushes.count, ["User", "Realm", "State", "Number", "Sent", "Good until"], facts.pushes
        ) { row in
            cell { row.user?.name ?? "a device that is gone" }
            cell { row.push.realm.description }
            cell { row.push.state == .waiting && row.push.deadline <= facts.now ? "expired" : "\(row.push.state)" }
            cell { row.push.number.map { String($0) } ?? "" }
            cell { SessionPages.time(row.push.sentAt) }
            cell { SessionPages.time(row.push.deadline) }
        }
    }

    private var users: Markup {
        table("Users", count: facts.userCount, ["User", "Realm", "", "Devices"], facts.users) { row in
            cell { row.user.name }
            cell { row.user.realm.description }
            cell { row.isLocked ? "locked" : "" }
            cell { row.devices.joined(separator: ", ") }
        }
    }

    private var letters: Markup {
        table("Letters", count: facts.letters.count, ["User", "Realm", "Link"], facts.letters) { row in
            cell { row.user.name }
            cell { row.user.realm.description }
            cell { tag("a", ["href": row.link]) { "Follow it" } }
        }
    }

    private var requests: Markup {
        table(
            "Requests", count: facts.requests.count, ["", "Time", "Method", "Path", "Status", "Took"], facts.requests.prefix(50)
        ) { row in
            cell { String(row.number) }
            cell { SessionPages.time(row.at) }
            cell { row.method }
            cell { tag("code") { row.path } }
            cell { String(row.status) }
            cell { "\(row.duration / .milliseconds(1) * 10 < 10 ? "< 1" : String(Int(row.duration / .milliseconds(1)))) ms" }
        }
    }

    private var journeys: Markup {
        section("Journeys") {
            tag("ul", ["class": "columns"]) {
                for name in facts.journeys {
                    tag("li") {
                        tag(
                            "a",
                            [
                                "href":
                                    "\(contextPath)/XUI/?realm=/&authIndexType=service&authIndexValue=\(name.percentEncoded())&ForceAuth=true"
                            ]
                        ) { name }
                    }
                }
            }
        }
    }

    private var others: Markup {
        section("Another browser") { form("link") { PagePart.button("Make a link", isMain: false) } }
    }

    // MARK: Parts

    private func section(_ title: String, @MarkupBuilder _ content: () -> Markup) -> Markup {
        tag("section", ["aria-label": title]) {
            tag("h2") { title }
            content()
        }
    }

    private func table<Row>(
        _ title: String, count: Int, _ columns: [String], _ rows: some Collection<Row>, @MarkupBuilder _ cells: (Row) -> Markup
    ) -> Markup {
        section(title) {
            if rows.isEmpty {
                tag("p", ["class": "quiet"]) { "None." }
            } else {
                if count > rows.count { tag("p", ["class": "quiet"]) { "\(rows.count) of \(count)" } }
                tag("div", ["class": "scroll", "tabindex": "0", "role": "group", "aria-label": title]) {
                    tag("table") {
                        tag("thead") { tag("tr") { for column in columns { tag("th", ["scope": "col"]) { column } } } }
                        tag("tbody") { for row in rows { tag("tr") { cells(row) } } }
                    }
                }
            }
        }
    }

    private func cell(@MarkupBuilder _ content: () -> Markup) -> Markup { tag("td", [:], content) }

    private func form(_ action: String, @MarkupBuilder _ content: () -> Markup) -> Markup {
        tag("form", ["method": "post", "action": "\(contextPath)/console/\(action)", "class": "row"]) {
            PagePart.hidden("csrf", csrf)
            content()
        }
    }
}
