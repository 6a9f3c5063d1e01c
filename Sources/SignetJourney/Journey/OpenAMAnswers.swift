import SignetCore
import SignetNetwork

// The answers by which OpenAM differs from AM (protocol/journey.md section 8).

extension HTTPResponse {
    /// True for the step of a module.
    ///
    /// Its members `template` and `infoText` are those of OpenAM, and of the chains of older AM servers, which treat steps and
    /// sessions in the same way. AM's trees don't send them.
    var isModuleStep: Bool {
        // Most servers have no modules, and their steps are parsed only once.
        guard status == 200, body.firstRange(of: Array(#""infoText""#.utf8)) != nil,
            let members = (try? JSON.value(of: body))?.object
        else { return false }
        return members["authId"]?.string != nil && members["template"]?.string != nil && members["infoText"]?.array != nil
    }
}

extension JourneyError {
    /// True when the server refused a step because it counts the callbacks and some are missing.
    var isMissingCallbacks: Bool { status == 400 && message.hasPrefix("Incorrect number of callbacks found") }
}
