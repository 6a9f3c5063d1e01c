import SignetCore

/// A part of a page that asks the user for one thing, like AM's collector nodes.
protocol Collector: Sendable {
    /// Returns the callbacks to show. They are the same in each call until the collector has taken an answer.
    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback]
    /// Takes the client's answers. Index 0 is the answer to the first callback of this collector.
    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult
}

/// The result of an answer.
enum CollectorResult: Sendable {
    case accepted
    /// The answer is not valid, or was only to be validated. These callbacks are shown instead.
    case retry([JourneyCallback])
    /// The login ends with this error.
    case refuse(APIError)
}

/// A page with several collectors and, optionally, one last node that asks in one step. The outcomes of the last node are the
/// outcomes of the page.
struct PageNode: Node {
    var collectors: [any Collector]
    var last: (any Node)?
    var stage: String?
    var header: String?
    var description: String?

    var name: String { "PageNode" }
    var outcomes: [NodeOutcome] { last?.outcomes ?? [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        let asked = collectors.map { $0.callbacks(journey, tx) }
        guard let answers = visit.answers else {
            return leave(visit, unless: collectors.isEmpty ? nil : asked, &journey, &tx)
        }
        var shown = asked
        var isDone = true
        var offset = 0
        for (index, collector) in collectors.enumerated() {
            let part = answers.part(from: offset, count: asked[index].count)
            offset += asked[index].count
            switch collector.take(part, &journey, &tx) {
            case .accepted: break
            case .retry(let callbacks):
                shown[index] = callbacks
                isDone = false
            case .refuse(let refusal): return .refuse(refusal)
            }
        }
        let rest = answers.part(from: offset)
        // The last node gets answers only when all collectors are done. If it had no callbacks while they were open, it is
        // visited without answers and can ask now.
        let lastVisit = NodeInput(answers: isDone && !rest.isEmpty ? rest : nil, moment: visit.moment)
        return leave(lastVisit, unless: isDone ? nil : shown, keeping: rest, &journey, &tx)
    }

    /// Runs the last node and returns its result, unless callbacks of the collectors are still open. In that case it shows them
    /// again together with the callbacks of the last node, which keep the answers that the client has already given.
    private func leave(
        _ visit: NodeInput, unless open: [[JourneyCallback]]?, keeping answers: Answers? = nil, _ journey: inout JourneyState,
        _ tx: inout ServerTransaction
    ) -> NodeResult {
        let action = last?.process(visit, &journey, &tx) ?? .transition(.outcome)
        var shown = open ?? collectors.map { $0.callbacks(journey, tx) }
        if case .prompt(let page) = action {
            shown.append(
                page.callbacks.enumerated().map { index, callback in answers.map { callback.keeping($0, at: index) } ?? callback }
            )
        } else if open == nil {
            return action
        }
        return .prompt(Page(callbacks: shown.flatMap { $0 }, stage: stage, header: header, description: description))
    }
}

/// A node of collectors that stands outside of a page.
struct CollectorNode: Node {
    var name: String
    var collectors: [any Collector]

    init(_ name: String, _ collectors: [any Collector]) {
        self.name = name
        self.collectors = collectors
    }

    var outcomes: [NodeOutcome] { [.outcome] }
    var interaction: Interaction { .ownPage }

    func process(_ visit: NodeInput, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> NodeResult {
        PageNode(collectors: collectors).process(visit, &journey, &tx)
    }
}

/// A collector that asks for the user's name.
struct UsernameCollector: Collector {
    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] { [.name(prompt: "User Name")] }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        journey.username = answers.text(0)
        return .accepted
    }
}

/// A collector that asks for a password.
struct PasswordCollector: Collector {
    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] { [.password(prompt: "Password")] }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        journey.password = Secret(answers.text(0).utf8)
        return .accepted
    }
}

/// A collector that asks for a text.
struct TextCollector: Collector {
    var attribute: String
    var prompt: String
    var standard = ""

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [.any("TextInputCallback", ["prompt": .string(prompt), "defaultText": .string(standard)], ["": .string("")])]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        journey.attributes[attribute] = .string(answers.text(0))
        return .accepted
    }
}

/// A collector that asks the user to accept the terms, until the user does.
struct TermsCollector: Collector {
    var version = "1.0"
    var terms = "Use it for development and tests."
    /// The creation time of the terms, in the format of RFC 3339.
    var createdAt = "2024-01-31T10:00:00.000Z"

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [
            .any(
                "TermsAndConditionsCallback",
                ["version": .string(version), "terms": .string(terms), "createDate": .string(createdAt)], ["": .bool(false)])
        ]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        guard answers.truth(0) else { return .retry(callbacks(journey, tx)) }
        journey.attributes["termsAccepted"] = .string(version)
        return .accepted
    }
}

/// A collector that asks for consent to share data. If the consent is required, it asks until the user gives it.
struct ConsentCollector: Collector {
    var mapping = "managedUser_crm"
    var displayName = "CRM"
    var message = "Share your profile"
    var fields = ["mail", "givenName"]
    var isRequired = false

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [
            .any(
                "ConsentMappingCallback",
                [
                    "name": .string(mapping), "displayName": .string(displayName), "icon": .string(""),
                    "accessLevel": .string("Actual Profile"), "isRequired": .bool(isRequired), "message": .string(message),
                    "fields": .texts(fields),
                ], ["": .bool(false)])
        ]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        let isGiven = answers.truth(0)
        guard isGiven || !isRequired else { return .retry(callbacks(journey, tx)) }
        journey.attributes["consent-\(mapping)"] = .bool(isGiven)
        return .accepted
    }
}

/// A collector that asks the user to choose security questions and to answer them.
struct SecurityQuestionsCollector: Collector {
    var questions = ["What was your first pet?", "Where were you born?"]
    var allowsOwn = true
    var count = 1
    var prompt = "Select a security question"

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        (0..<count).map { _ in
            .any(
                "KbaCreateCallback",
                [
                    "prompt": .string(prompt), "predefinedQuestions": .texts(questions),
                    "allowUserDefinedQuestions": .bool(allowsOwn),
                ], ["question": .string(""), "answer": .string("")])
        }
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        var taken: [String: Secret] = [:]
        for index in 0..<count {
            let question = answers.text(index, "question")
            let answer = Secret(answers.text(index, "answer").utf8)
            guard !question.isEmpty, !answer.isBlank, question.utf8.count <= 1024, allowsOwn || questions.contains(question)
            else { return .retry(callbacks(journey, tx)) }
            taken[question] = answer
        }
        // A question that was chosen twice counts once, so the number of distinct questions is compared.
        guard taken.count == count else { return .retry(callbacks(journey, tx)) }
        journey.securityAnswers = taken
        return .accepted
    }
}

/// A collector that asks for the device profile and stores it in the journey's attributes.
struct DeviceProfileCollector: Collector {
    var wantsMetadata = true
    var wantsLocation = true
    var message = "Collecting profile ..."
    /// The maximum size of a profile, in bytes.
    var largest = 64 * 1024

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        [
            .any(
                "DeviceProfileCallback",
                ["metadata": .bool(wantsMetadata), "location": .bool(wantsLocation), "message": .string(message)],
                ["": .string("")])
        ]
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        let text = answers.text(0)
        guard text.utf8.count <= largest, let profile = try? JSON.value(of: text.utf8), profile.isStorable,
            let identifier = profile["identifier"]?.string, !identifier.isEmpty
        else { return .retry(callbacks(journey, tx)) }
        var kept: [String: JSONValue] = ["identifier": .string(identifier)]
        for name in ["metadata", "location"] { kept[name] = profile[name]?.object.map { .object($0) } }
        journey.attributes["deviceProfile"] = .object(kept)
        return .accepted
    }
}
