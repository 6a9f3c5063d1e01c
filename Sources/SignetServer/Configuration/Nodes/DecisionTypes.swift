import SignetCore
import YAMLText

/// Nodes that decide how the journey continues, and nodes that run or suspend journeys.
extension NodeType {
    static let decisions: [NodeType] = [
        .node("ChoiceCollectorNode", "Choice Collector", "Lets a person choose. Each choice is an outcome of that name.") {
            reader in
            let choices = reader.optionalTexts("choices") ?? []
            if Set(choices).count != choices.count { reader.note(reader.place(of: "choices"), "a choice is there twice") }
            if choices.isEmpty, reader.problems.isEmpty {
                reader.note(reader.place, "`choices` is missing: it is a list of texts, `[email, push]`")
            }
            let prompt = reader.words("prompt", "Choose")
            let standard = reader.optionalText("defaultChoice", kind: "one of the choices", standard: "the first")
            if let standard, !choices.contains(standard) {
                reader.note(
                    reader.place(of: "defaultChoice"),
                    "`\(standard.shortened)` is none of the choices" + choices.advice(for: standard, "there are"))
            }
            let index = standard.flatMap { choices.firstIndex(of: $0) } ?? 0
            return ChoiceCollectorNode(prompt: prompt, choices: choices, standard: index)
        },
        .node("MessageNode", "Message", "Tells a person something and lets them agree, `true`, or not, `false`.") { reader in
            MessageNode(
                message: reader.words("message", "Go on?"),
                messageType: reader.choice(
                    "messageType", "INFORMATION", ["INFORMATION": 0, "WARNING": 1, "ERROR": 2]) ?? 0,
                yes: reader.words("messageYes", "Yes"), no: reader.words("messageNo", "No"),
                attribute: reader.optionalText("stateField"))
        },
        .node(
            "PollingWaitNode", "Polling Wait",
            "Lets the client wait. `EXITED` is there when it is `exitable`, `SPAM` when `spamDetectionEnabled`: for who comes too early too often."
        ) { reader in
            let seconds = reader.number("secondsToWait", 8, in: 1...86_400)
            let message = reader.words("waitingMessage", "Waiting ...")
            let isExitable = reader.truth("exitable", false)
            let exit = reader.words("exitMessage", "Exit")
            let detectsSpam = reader.truth("spamDetectionEnabled", false)
            let tolerance = reader.number("spamDetectionTolerance", 3, in: 0...1000)
            return PollingWaitNode(
                seconds: Double(seconds), message: message, exit: isExitable ? exit : nil,
                tolerance: detectsSpam ? tolerance : nil)
        },
        .node(
            "RetryLimitDecisionNode", "Retry Limit Decision",
            "Lets a journey try again so many times: `Retry`, and then `Reject`."
        ) { RetryLimitDecisionNode(limit: $0.number("retryLimit", 3, in: 1...1_000_000)) },
        .node(
            "InnerTreeEvaluatorNode", "Inner Tree Evaluator",
            "Runs another journey: `true` when it ends in success, `false` when it ends in failure."
        ) { InnerTreeEvaluatorNode(tree: $0.requiredText("tree", kind: "the name of a journey")) },
        .node(
            "EmailSuspendNode", "Email Suspend",
            "Sends an email with a link, and continues when the user follows it. `signet serve` prints the emails."
        ) { EmailSuspendNode(message: $0.words("emailSuspendMessage", EmailSuspendNode().message)) },
        .node(
            "KbaVerifyNode", "KBA Verification",
            "Asks so many of the person's questions, `true` when all answers are right. Case, and space around an answer, are the same."
                + " A blank answer is never right."
        ) { KBAVerifyNode(count: $0.number("minimumAnswersToVerify", 1, in: 1...10)) },
        .node("KbaDecisionNode", "KBA Decision", "Whether the person has answers to so many questions.") {
            KBADecisionNode(count: $0.number("minimumAnswersToDefine", 1, in: 1...10))
        },
        .node(
            "TermsAndConditionsDecisionNode", "Terms and Conditions Decision",
            "Whether the person has accepted the terms, in this version."
        ) { TermsDecisionNode(version: $0.text("version", TermsCollector().version)) }, scripted,
    ]

    private static let scripted = NodeType.node(
        "ScriptedDecisionNode", "Scripted Decision",
        "Shows `callbacks`, if it has any, and decides by a `table`: the first row that holds has the outcome. See below."
    ) { reader in
        let callbacks = reader.elements("callbacks", kind: "a list of callbacks").map { reader.callback($0) }
        let attribute = reader.optionalText("attribute", kind: "the name that the answers but passwords are kept under")
        let table = reader.elements("table", kind: "a list of rows").map { reader.row($0) }
        return ScriptedDecisionNode(
            callbacks: callbacks, attribute: attribute, table: table,
            standard: NodeOutcome(reader.text("default", "outcome")))
    }
}

extension SectionReader {
    /// Reads a callback of any type: `type`, `output` by name, and `input` by the suffix that follows `IDToken1` in the name.
    fileprivate mutating func callback(_ value: MarkedValue) -> JourneyCallback {
        var part = SectionReader(value, subject: subject.map { "\($0), callback" })
        let type = part.requiredText("type", kind: "the name of a callback, `ReCaptchaCallback`")
        let output = part.members("output") ?? []
        let input = part.members("input")
        note(part.finished())
        return JourneyCallback(type: type, output: output, input: input)
    }

    private mutating func members(_ name: String) -> [JourneyCallback.Field]? {
        guard let value = value(name, kind: "values by names") else { return nil }
        guard let entries = value.mapping else {
            note(value.place, "`\(name)` is values by names, `{prompt: Nickname}`, not \(value.kind)")
            return nil
        }
        return entries.map { JourneyCallback.Field(name: $0.key, value: $0.value.json) }
    }

    /// Reads a row of a table: `when`, which contains values by input, and `outcome`.
    fileprivate mutating func row(_ value: MarkedValue) -> ScriptedDecisionNode.Row {
        var part = SectionReader(value, subject: subject.map { "\($0), row" })
        let when = part.value("when", kind: "values by inputs")
        if let when, when.mapping == nil {
            part.note(when.place, "`when` is values by inputs, `{username: demo}`, not \(when.kind)")
        }
        let conditions = (when?.mapping ?? []).compactMap { entry -> ScriptedDecisionNode.Condition? in
            guard let input = ScriptedDecisionNode.Input(entry.key) else {
                part.note(
                    entry.place,
                    "a table cannot look at `\(entry.key.shortened)`"
                        + ScriptedDecisionNode.Input.names.advice(for: entry.key, "it can look at"))
                return nil
            }
            let values = entry.value.list ?? [entry.value]
            guard values.allSatisfy({ $0.list == nil && $0.mapping == nil }) else {
                part.note(entry.value.place, "`\(entry.key)` is compared with a text, or with each of a list of texts")
                return nil
            }
            return ScriptedDecisionNode.Condition(input: input, patterns: values.map(\.text))
        }
        let outcome = part.requiredText("outcome", kind: "the name of an outcome")
        note(part.finished())
        return ScriptedDecisionNode.Row(conditions: conditions, outcome: NodeOutcome(outcome))
    }
}
