import SignetCore
import Testing

@Suite("A requirement of an AM policy")
struct PolicyRequirementTests {
    @Test(
        "A requirement given as a name, an object or JSON text is described in a sentence",
        arguments: [
            (#""REQUIRED""#, "Fill this in."),
            (#"{"policyRequirement":"MIN_LENGTH","params":{"minLength":8}}"#, "Use at least 8 characters."),
            (#""{\"policyRequirement\":\"MIN_LENGTH\",\"params\":{\"minLength\":8}}""#, "Use at least 8 characters."),
            (#"{"policyRequirement":"AT_LEAST_X_NUMBERS","params":{"numNums":1}}"#, "Use a digit."),
            (#"{"policyRequirement":"AT_LEAST_X_NUMBERS","params":{"numNums":2}}"#, "Use at least 2 digits."),
            (
                #"{"policyRequirement":"VALID_TYPE","params":{"types":["string","null"]}}"#,
                "Enter a value of the type string, null."
            ),
            (#"{"policyRequirement":"MINIMUM_NUMBER_VALUE","params":{"minimum":3}}"#, "Enter 3 or more."),
            (#"{"policyRequirement":"MINIMUM_NUMBER_VALUE"}"#, "Enter a larger number."),
            (#"{"policyRequirement":"HOUSE_RULE"}"#, "This does not comply with the rule HOUSE_RULE."),
            ("7", "This value is not accepted."), (#"{"params":{}}"#, "This value is not accepted."),
        ])
    func requirementSentences(json: String, sentence: String) throws {
        #expect(PolicyRequirement.sentence(for: try JSON.value(of: json.utf8)) == sentence)
    }
}
