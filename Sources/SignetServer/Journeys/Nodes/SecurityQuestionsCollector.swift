import SignetCore

/// A collector that asks the user to choose security questions and to answer them.
struct SecurityQuestionsCollector: Collector {
    static let type = NodeType(
        "KbaCreateNode", "KBA Definition",
        "Asks for security questions and answers. Create Object and Patch Object store the answers as digests. White space at the ends of a question and an answer does not count, and a blank answer is asked for again."
    ) { decoder in
        let defaults = Self()
        return Self(
            questions: decoder.strings("questions", defaults.questions),
            allowsOwn: decoder.bool("allowUserDefinedQuestions", defaults.allowsOwn),
            count: decoder.integer("minimumAnswersToDefine", defaults.count, in: 1...10),
            prompt: decoder.localizedText("message", defaults.prompt))
    }

    var questions = ["What was your first pet?", "Where were you born?"]
    var allowsOwn = true
    var count = 1
    var prompt: LocalizedText = "Select a security question"

    func callbacks(_ journey: JourneyState, _ tx: ServerTransaction) -> [JourneyCallback] {
        (0..<count).map { _ in
            .any(
                "KbaCreateCallback",
                [
                    "prompt": .string(tx.text(prompt)), "predefinedQuestions": .texts(questions),
                    "allowUserDefinedQuestions": .bool(allowsOwn),
                ], ["question": .string(""), "answer": .string("")])
        }
    }

    func take(_ answers: Answers, _ journey: inout JourneyState, _ tx: inout ServerTransaction) -> CollectorResult {
        var taken: [String: Secret] = [:]
        for index in 0..<count {
            let question = answers.text(index, "question").trimmingWhitespace()
            let answer = Secret(answers.text(index, "answer").trimmingWhitespace().utf8)
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
