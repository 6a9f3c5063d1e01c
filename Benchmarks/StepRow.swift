import Foundation
import SignetCore

/// A step with 30 callbacks, from its bytes to a ``JourneyStep`` that has lost nothing, beside one Foundation decoding of the bytes
/// into plain structs that know no more than these callbacks have.
enum StepRow {
    private static let callbacks = 30

    static func measure() async throws -> Row {
        let bytes = Array(step.utf8)
        let data = Data(bytes)
        let ours = Contender.calls("JourneyStep") { _ in
            try JourneyStep(json: JSON.value(of: bytes)).callbacks.count
        }
        let decoder = JSONDecoder()
        let reference = Contender.calls("JSONDecoder") { _ in
            try decoder.decode(StepForm.self, from: data).callbacks.count
        }
        guard try JourneyStep(json: JSON.value(of: bytes)).callbacks.count == callbacks,
            try decoder.decode(StepForm.self, from: data).callbacks.count == callbacks
        else { throw BenchError("the step was not read whole") }
        return Row(
            "step with \(callbacks) callbacks, beside a Foundation decode",
            try await Race(ours: ours, reference: reference).run(),
            .atMost(2))
    }

    private static var step: String {
        let callbacks = (0..<callbacks).map { number in
            #"{"type":"TextInputCallback","output":[{"name":"prompt","value":"Question \#(number)"},"#
                + #"{"name":"defaultText","value":"none"}],"input":[{"name":"IDToken\#(number + 1)","value":""}],"_id":\#(number)}"#
        }
        return
            #"{"authId":"eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9","callbacks":[\#(callbacks.joined(separator: ","))],"stage":"Form"}"#
    }

    private struct StepForm: Decodable {
        var authId: String
        var stage: String
        var callbacks: [CallbackForm]
    }

    private struct CallbackForm: Decodable {
        var type: String
        var output: [FieldForm]
        var input: [FieldForm]
        var _id: Int
    }

    private struct FieldForm: Decodable {
        var name: String
        var value: String
    }
}
