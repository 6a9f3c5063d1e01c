import Foundation
import SignetCore

/// The data of the console, read in one transaction.
struct ConsoleFacts: Sendable {
    /// The maximum number of rows that the pages of a table can show.
    ///
    /// They are the newest ones.
    static let rows = 1000
    /// The number at which the counting of rows stops.
    static let maxCounted = 10_000

    struct UserRow: Sendable {
        let user: UserKey
        let isLocked: Bool
        let devices: [String]
    }

    struct PushRow: Sendable {
        let push: PushMessageRecord
        let progress: PushReport.Progress
        let user: UserKey?
        /// The number of open streams of the device.
        let streams: Int
        /// `waiting`, `approved`, `denied` or `expired`.
        let state: String

        init(_ push: PushMessageRecord, _ tx: ServerTransaction, _ streams: PushStreams) throws {
            self.push = push
            progress = try tx.dispatches[push.messageID].progress
            user = try tx.devices.pushDevice(mechanismUID: push.mechanismUID)?.owner
            self.streams = streams.count(push.mechanismUID)
            state = push.state == .waiting && push.deadline <= tx.now ? "expired" : "\(push.state)"
        }
    }

    let now: Date
    let offset: Double
    let isStopped: Bool
    let baseURL: String
    let users: TablePage<UserRow>
    let sessions: TablePage<(key: TokenHash, session: SSOSession)>
    let pushes: TablePage<PushRow>
    let emails: TablePage<(user: UserKey, link: String)>
    /// The journeys that each realm offers.
    let journeys: [(realm: RealmPath, names: [String])]
    let entries: TablePage<RequestLogEntry>
    let faults: TablePage<FaultTable.Entry>
    /// The routes at which faults can be enabled.
    let routes: [String]

    /// Reads the data.
    ///
    /// Sessions, messages and the entries of the request log are ordered from newest to oldest.
    init(_ server: ServerContext, at pages: ConsoleQuery) async throws {
        offset = server.clock.offset
        isStopped = server.clock.isStopped
        entries = TablePage(server.requestLog.entries.reversed(), pages[.requestLog])
        faults = TablePage(server.faults.entries, pages[.faults])
        routes = server.faults.routes
        journeys = server.realms.sorted { $0.description < $1.description }
            .map { ($0, server.trees.names(offeredIn: $0)) }
        (now, baseURL, users, sessions, pushes, emails) = try await server.store.read(skippingUnreadableRows: true) {
            [streams = server.streams] tx in
            let userCount = try tx.directory.count(limit: Self.maxCounted)
            let users = try TablePage(tx.directory.users(Self.rows), of: userCount, pages[.users]) { user in
                UserRow(
                    user: user, isLocked: try tx.directory[user]?.isLocked ?? false,
                    devices: try DeviceKind.allCases.flatMap { kind in
                        try tx.devices.descriptions(kind, of: user).map { "\(kind.rawValue): \($0.deviceName)" }
                    })
            }
            let sessions = try tx.sessions.newest(Self.rows)
                .sorted { $0.session.startedAt > $1.session.startedAt }
            let sessionCount = try tx.sessions.count(limit: Self.maxCounted)
            let pushes = try tx.pushes.newest(Self.rows).sorted { $0.sentAt > $1.sentAt }
            return (
                tx.now, tx.time.baseURL, users,
                TablePage(sessions, of: sessionCount, pages[.sessions]) { $0 },
                try TablePage(pushes, pages[.pushes]) { try PushRow($0, tx, streams) },
                TablePage(
                    try tx.emails.newest(Self.rows).reversed().compactMap { email in email.link.map { (email.user, $0) } },
                    pages[.emails])
            )
        }
    }
}

extension JSONValue {
    fileprivate var deviceName: String { self["deviceName"]?.string ?? self["alias"]?.string ?? "" }
}

/// The console page.
struct ConsoleView: Sendable {
    let contextPath: String
    let csrf: String
    let pages: ConsoleQuery
    let facts: ConsoleFacts

    var page: HTMLPage {
        HTMLPage(
            title: "Console",
            content: tag("p", ["class": "quiet"]) { facts.baseURL }
                + tag("p") {
                    tag("a", ["href": "\(contextPath)/console\(pages.query)", "class": "button plain"]) { "Refresh" }
                }
                + clock + faults + sessions + pushes + emails + users + requestLog + journeys + others,
            isWide: true)
    }

    // MARK: Clock

    private var clock: Markup {
        let moves: [(String, Int)] = [("+30 s", 30), ("+1 min", 60), ("+5 min", 300), ("+1 h", 3600), ("+1 day", 86_400)]
        return section("Clock") {
            tag("p") {
                SessionPageController.time(facts.now)
                facts.offset == 0 ? " · the machine's" : " · moved by \(Self.seconds(facts.offset))"
                facts.isStopped ? " · stopped" : ""
            }
            form("clock") {
                for (label, seconds) in moves { PagePart.button(label, name: "seconds", value: String(seconds), isMain: false) }
            }
            form("clock") {
                tag("label", ["for": "seconds"]) { "Seconds" }
                void("input", ["id": "seconds", "name": "seconds", "inputmode": "decimal", "required": ""])
                PagePart.button("Move", isMain: false)
            }
            form(facts.isStopped ? "clock/resume" : "clock/stop") {
                PagePart.button(facts.isStopped ? "Resume" : "Stop", isMain: false)
            }
            form("clock/reset") { PagePart.button("Use the machine's time", isMain: false) }
        }
    }

    private static func seconds(_ seconds: Double) -> String {
        "\(seconds < 0 ? "-" : "+")\(Duration.seconds(abs(seconds)))".replacing(".0 seconds", with: " s")
    }

    // MARK: Tables

    private var sessions: Markup {
        table(
            .sessions, "Sessions", ["User", "", "Realm", "Journeys", "Signed in", "Unused until", "Until"], facts.sessions
        ) { row in
            cell { row.session.user.name }
            // The button is in one of the first columns, so that it is visible on narrow screens.
            cell {
                form("session") {
                    PagePart.hidden("key", row.key.text)
                    tag("button", ["class": "plain", "aria-label": "End the session of \(row.session.user.name)"]) { "End" }
                }
            }
            cell { row.session.user.realm.description }
            cell { row.session.trees.sorted().joined(separator: ", ") }
            cell { time(row.session.authenticatedAt) }
            cell { time(row.session.idleEnd) }
            cell { time(row.session.end) }
        }
    }

    private var pushes: Markup {
        table(
            .pushes, "Push messages", ["User", "Realm", "State", "Delivery", "Number", "Streams", "Sent", "Good until"],
            facts.pushes
        ) { row in
            cell { row.user?.name ?? "a device that is gone" }
            cell { row.push.realm.description }
            cell { row.state }
            cell { Self.delivery(row.progress) }
            cell { row.push.number.map { String($0) } ?? "" }
            cell { String(row.streams) }
            cell { time(row.push.sentAt) }
            cell { time(row.push.deadline) }
        }
    }

    private static func delivery(_ progress: PushReport.Progress) -> String {
        switch progress {
        case .onStream: "stream"
        case .queued: "queued for SNS"
        case .sent: "sent to SNS"
        case .undeliverable(let reason): "not delivered: \(reason)"
        }
    }

    private var users: Markup {
        table(.users, "Users", ["User", "Realm", "", "Devices"], facts.users) { row in
            cell { row.user.name }
            cell { row.user.realm.description }
            cell { row.isLocked ? "locked" : "" }
            cell { row.devices.joined(separator: ", ") }
        }
    }

    private var emails: Markup {
        table(.emails, "Emails", ["User", "Realm", "Link"], facts.emails) { row in
            cell { row.user.name }
            cell { row.user.realm.description }
            cell { tag("a", ["href": row.link]) { "Follow it" } }
        }
    }

    private var journeys: Markup {
        section("Journeys") {
            for offered in facts.journeys where !offered.names.isEmpty {
                if facts.journeys.count > 1 { tag("h3") { "Realm \(offered.realm)" } }
                tag("ul", ["class": "columns"]) {
                    for name in offered.names { tag("li") { tag("a", ["href": address(name, in: offered.realm)]) { name } } }
                }
            }
        }
    }

    private func address(_ journey: String, in realm: RealmPath) -> String {
        "\(contextPath)/XUI/?realm=\(realm.description.percentEncoded())&authIndexType=service"
            + "&authIndexValue=\(journey.percentEncoded())&ForceAuth=true"
    }

    private var others: Markup {
        section("Another browser") { form("link") { PagePart.button("Make a link", isMain: false) } }
    }

    // MARK: Parts

    func section(_ title: String, @MarkupBuilder _ content: () -> Markup) -> Markup {
        tag("section", ["aria-label": title]) {
            tag("h2") { title }
            content()
        }
    }

    func table<Row>(
        _ table: ConsoleTable, _ title: String, _ columns: [String], _ page: TablePage<Row>,
        @MarkupBuilder _ cells: (Row) -> Markup
    ) -> Markup {
        tag("section", ["aria-label": title, "id": table.rawValue]) {
            tag("h2") { title }
            if page.rows.isEmpty {
                tag("p", ["class": "quiet"]) { "None." }
            } else {
                tag("div", ["class": "scroll", "tabindex": "0", "role": "group", "aria-label": title]) {
                    tag("table") {
                        tag("thead") { tag("tr") { for column in columns { tag("th", ["scope": "col"]) { column } } } }
                        tag("tbody") { for row in page.rows { tag("tr") { cells(row) } } }
                    }
                }
                if let extent = page.extent { turn(table, title, extent, page.number, hasNext: page.hasNext) }
            }
        }
    }

    /// Returns the line with the range of rows on this page, and links to the previous and next pages.
    private func turn(_ table: ConsoleTable, _ title: String, _ extent: String, _ number: Int, hasNext: Bool) -> Markup {
        func link(_ label: String, _ page: Int) -> Markup {
            let address = "\(contextPath)/console\(pages.turning(table, to: page).query)#\(table.rawValue)"
            return tag("a", ["href": address, "aria-label": "\(label): \(title)"]) { label }
        }
        return tag("p", ["class": "quiet turn"]) {
            tag("span") { extent }
            if number > 1 { link("Back", number - 1) }
            if hasNext { link("More", number + 1) }
        }
    }

    /// Returns a time in a table, without the date if it is on the current day.
    func time(_ date: Date) -> Markup { SessionPageController.time(date, on: facts.now) }

    func cell(@MarkupBuilder _ content: () -> Markup) -> Markup { tag("td", [:], content) }

    func form(_ action: String, @MarkupBuilder _ content: () -> Markup) -> Markup {
        tag("form", ["method": "post", "action": "\(contextPath)/console/\(action)\(pages.query)", "class": "row"]) {
            PagePart.hidden("csrf", csrf)
            content()
        }
    }
}
