#include "wire/type_hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <timebase/ros2_type_hash.h>

#include "base/fork.h"
#include "platform/mutex.h"
#include "wire/names.h"

#define PREFIX_KEY "typehash="
#define PREFIX     "RIHS01_"

typedef struct type_hash {
  const char *type;
  const char *sha256;
} type_hash_t;

/* Sorted by type (REP 2011; rosidl_generator_type_description of ROS 2 jazzy). */
static const type_hash_t hashes[] = {
    {"builtin_interfaces/msg/Duration",
     "e8d009f659816f758b75334ee1a9ca5b5c0b859843261f14c7f937349599d93b"},
    {"builtin_interfaces/msg/Time",
     "b106235e25a4c5ed35098aa0a61a3ee9c9b18d197f398b0e4206cea9acf9c197"},
    {"diagnostic_msgs/msg/DiagnosticArray",
     "5a8a36efb05fb25070fa0fb3810290c0e6cd4862b54a8fb975a1ee8dc55a333e"},
    {"geometry_msgs/msg/PoseStamped",
     "10f3786d7d40fd2b54367835614bff85d4ad3b5dab62bf8bca0cc232d73b4cd8"},
    {"lifecycle_msgs/msg/TransitionEvent",
     "d5f8873a2f0146498f812d7885c7327ce27e463d36811d8792f35ee38c0d6c38"},
    {"lifecycle_msgs/srv/ChangeState_Request",
     "d74c6f524e14cade7b67e7297190360ed749264af300524fc1456f27cc2a553a"},
    {"lifecycle_msgs/srv/ChangeState_Response",
     "e1ddfed0271fefe63767aa71561926e4d9eac0f1ddf9e71a8873eb46b36deac2"},
    {"lifecycle_msgs/srv/GetAvailableStates_Request",
     "c2c0c12de6023822f284929577d4ca2862e0501150010966e8a90b632e4424de"},
    {"lifecycle_msgs/srv/GetAvailableStates_Response",
     "223e0dd5bb8a847ebb9532adaf8b5e2a97e6e68e79faeaabd81a45fb32925bd1"},
    {"lifecycle_msgs/srv/GetAvailableTransitions_Request",
     "52a73c0b5d7489bee0df6ddb0aec45c41289d223ff225b58fe11d859ac8109a6"},
    {"lifecycle_msgs/srv/GetAvailableTransitions_Response",
     "4711339461aadf02bcfff797a198de911f885074bd3f2fe9f7b677ef87f0741c"},
    {"lifecycle_msgs/srv/GetState_Request",
     "77a9c844e7975f15bc2221e8bbebafc4d118afb78c7f7071eef91f83f940f2f6"},
    {"lifecycle_msgs/srv/GetState_Response",
     "fe249babab472e42cb5653b5d6a6b0c42a003b0fdfb84851aea3fde08760b4f5"},
    {"rcl_interfaces/msg/Log", "e28ce254ca8abc06abf92773b74602cdbf116ed34fbaf294fb9f81da9f318eac"},
    {"rcl_interfaces/msg/ParameterEvent",
     "043e627780fcad87a22d225bc2a037361dba713fca6a6b9f4b869a5aa0393204"},
    {"rcl_interfaces/srv/DescribeParameters_Request",
     "05dd1c2bc87dec2627105c8070d6f9725c781a4f2ab852975bf105462b82b644"},
    {"rcl_interfaces/srv/DescribeParameters_Response",
     "ad6747319613c6131589e062e095b469a46cc764f7d0f12a001a49e6cd893995"},
    {"rcl_interfaces/srv/GetParameterTypes_Request",
     "87d7ec5ef545d4daa289d500025d31fb2437bc8b8365ca367161c4dac4be33fd"},
    {"rcl_interfaces/srv/GetParameterTypes_Response",
     "ac1335dce67c478e669434f6ac2fbff34fcd529580f272d3006785ba8b54e47f"},
    {"rcl_interfaces/srv/GetParameters_Request",
     "135a9e1c3d7cebef792f6687d7ddf99949b21a0bd9a320d863a9110a3f5cf4d6"},
    {"rcl_interfaces/srv/GetParameters_Response",
     "9fa773b46e39cc5d02db6224d8fd520bb9caeeffc2b27c96c1e59431baba9f2a"},
    {"rcl_interfaces/srv/ListParameters_Request",
     "a1b0b5d6b967a5b8ac5bc8563c3ea678f349e312a6a4967227c5a96bc5ce38df"},
    {"rcl_interfaces/srv/ListParameters_Response",
     "31b937b82de3612426be79f231e386259f97e8dc843e3f2845288b4bfa296bdd"},
    {"rcl_interfaces/srv/SetParametersAtomically_Request",
     "db0bd950ed5ed867a0e90b225e44dea382d762c0762ff3e0ee842190042a59e5"},
    {"rcl_interfaces/srv/SetParametersAtomically_Response",
     "31b1a38c5b0b9d893ee24da45f69638f4561c78461d82d52750f429b534502b8"},
    {"rcl_interfaces/srv/SetParameters_Request",
     "130d46386b7e84ea9ecf60608a4d83cbe5e5cb7c6cc5b712b7a4e3a6c254e932"},
    {"rcl_interfaces/srv/SetParameters_Response",
     "7a0e8140a0b8d98308fa81a5403a766e610af29a239caf54b7553227906fc266"},
    {"rmw_dds_common/msg/ParticipantEntitiesInfo",
     "91a0593bacdcc50ea9bdcf849a938b128412cc1ea821245c663bcd26f83c295e"},
    {"rosbag2_interfaces/msg/ReadSplitEvent",
     "6f21c9b52d788338b0775ceccb49f38e7a8baad7b954f79dd280baed91145ad7"},
    {"rosbag2_interfaces/msg/WriteSplitEvent",
     "4a50733d58c48fe31919ae8c8516beda7326d70c8e99aee98af3fdfd44ec5ae6"},
    {"rosbag2_interfaces/srv/Burst_Request",
     "df1559ec51bcc50327983ec73a89b5d619b6c43dd7a950e5612022bbfbcebdde"},
    {"rosbag2_interfaces/srv/Burst_Response",
     "4719b7f8deb6bab5b7b7d087fdeda63cc903a9503863e0726d930f8d87df6285"},
    {"rosbag2_interfaces/srv/GetRate_Request",
     "7d0acffdc3e2a0f609192ffe06e3f62b245ae870b2bed40f5aca14e90f70f2b8"},
    {"rosbag2_interfaces/srv/GetRate_Response",
     "94ed8749aa8f38b835d0d8c080549f48182174bcebf2ab8c1effabdd0fe200c9"},
    {"rosbag2_interfaces/srv/IsPaused_Request",
     "9ef3b23785d1cf8409fccd055c3d88e6423169b9e4eebd5c2113996db8a6e4bc"},
    {"rosbag2_interfaces/srv/IsPaused_Response",
     "245fc5f694b47fafac3c3a6ef8e412771153af28f86ac1a6e3acee60f9d01de8"},
    {"rosbag2_interfaces/srv/Pause_Request",
     "281bb2694f33f986b925c21fd9981c80cc5f5147bd5ec42d87525f1986c9e466"},
    {"rosbag2_interfaces/srv/Pause_Response",
     "6d7e31f48308bceaeaf78f6b75d6c7900bff88363706ac820e5649e6593b66ed"},
    {"rosbag2_interfaces/srv/PlayNext_Request",
     "10706411ae955640d84ffb56391bbb480c5a17af5443dd61e631c03ed659cf90"},
    {"rosbag2_interfaces/srv/PlayNext_Response",
     "3b3a1090b37438553eadea1180bf448b12092bdeda84e47e3ad811cc0e9da02b"},
    {"rosbag2_interfaces/srv/Play_Request",
     "39c4aa78517b0d95a9361dd0a735a38dd3a4b87be5163914406de8f05c4060b4"},
    {"rosbag2_interfaces/srv/Play_Response",
     "3c1d6006f1ecb3812090df0cff367927f59f8cd0733b425f548c8f6eaf3c0321"},
    {"rosbag2_interfaces/srv/Resume_Request",
     "fb988aa8fefd54ec0e79a58a51aa06101e0bcb1668dc38bbc0b4e02d6df274d9"},
    {"rosbag2_interfaces/srv/Resume_Response",
     "9df430ac47b3d942f08c1603418243b6457bef5ede37593d75d8d40edc543381"},
    {"rosbag2_interfaces/srv/Seek_Request",
     "9083eb4e68b18e1523bd04fe5a1d8ea29a17decbf5f9022aee4d14e450580776"},
    {"rosbag2_interfaces/srv/Seek_Response",
     "173c2de943541f1998b379e41bd5cd6fdb97fcccd5557548c974cbb1fbb473f0"},
    {"rosbag2_interfaces/srv/SetRate_Request",
     "a1c707f5a5e8fcc52976d7a6f50402ef48a3f298c1279a9aaccc956fa5b89a71"},
    {"rosbag2_interfaces/srv/SetRate_Response",
     "aa9635da63df53fcf447d5401749e81d42f64c600dc9e484f5eeea6dd8dd04f9"},
    {"rosbag2_interfaces/srv/Snapshot_Request",
     "337de25c6048a759f0097d9558b51c770e343480adf12c2f96493c5c3f87eb83"},
    {"rosbag2_interfaces/srv/Snapshot_Response",
     "056a95e36ce7880e74f6647e38257bac1fc7995b885043c0dc270b454214090b"},
    {"rosbag2_interfaces/srv/SplitBagfile_Request",
     "9918ae60556a6e2acce55c52f4755aa0d52ac69300aa7dac283b56008f271bdc"},
    {"rosbag2_interfaces/srv/SplitBagfile_Response",
     "a3da7835052da434e306631df08cc3efb919f82610f23d9b382795a464a23867"},
    {"rosbag2_interfaces/srv/Stop_Request",
     "2ba13fee320757e55d4c44f1de0a13e6bb4511968a2aec7f015436e1e137674e"},
    {"rosbag2_interfaces/srv/Stop_Response",
     "a5fb4f19fae6b772ca835ee2b5a814b5fa2e8b65d2a3670157028420f89fbdc8"},
    {"rosbag2_interfaces/srv/TogglePaused_Request",
     "c263e8697ae95135bb33065d4c04a2a64cbdc19f4dbe36fef7fbff08dc57b100"},
    {"rosbag2_interfaces/srv/TogglePaused_Response",
     "8eca86811a9c507bf6af991d96913de239bb7b20a0f4322167954da5c4f46e7b"},
    {"rosgraph_msgs/msg/Clock", "692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"},
    {"simulation_interfaces/srv/GetSimulationState_Request",
     "c6d65bc5c0a95ca2886bc57f146f803e01722c84ddb5acd5f32a4417f55eecfb"},
    {"simulation_interfaces/srv/GetSimulationState_Response",
     "dc80ce852a5ab04c2b23cdd47910cee1bcc46e0f1931cac85825e6916b15517f"},
    {"simulation_interfaces/srv/GetSimulatorFeatures_Request",
     "982b8c1adef1d556f6ecdc019d1269fc39413626a9222d73b4fc874bd798b7db"},
    {"simulation_interfaces/srv/GetSimulatorFeatures_Response",
     "ede4dc8227cbb2f86a24612c999dcaa67d17dab21dab566cefdc233e7a2a65d1"},
    {"simulation_interfaces/srv/ResetSimulation_Request",
     "2c766d09c3aa30f01fadc55a42fd760b63db358c7d1d3b6a64ea9978225ffbc7"},
    {"simulation_interfaces/srv/ResetSimulation_Response",
     "718428121e0f1755720878d3c28f1688da7581ee5a5d56d26d10d941a28a50a0"},
    {"simulation_interfaces/srv/SetSimulationState_Request",
     "73283477d36ba619db2ac37a3e599077ca244502c9d8ca2a7183afcb2224f476"},
    {"simulation_interfaces/srv/SetSimulationState_Response",
     "6351aebf2bbf06e2993977918b944240f7403b532a9e4a344c53e71a56afd174"},
    {"simulation_interfaces/srv/StepSimulation_Request",
     "cda33f6887815f3dce0f90e61fd8efd39bda13ae264ddede15c33fbad890630e"},
    {"simulation_interfaces/srv/StepSimulation_Response",
     "5b4acf2d0ce7c3fc125d0bef2acb9b5a81377e80db6b696b81beeffb9824fb5c"},
    {"statistics_msgs/msg/MetricsMessage",
     "36a67fb499fc2a11b8b9ff9ac735ed76e8d5a1f7775d6d5b97b625188ec68e20"},
    {"std_msgs/msg/Empty", "20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312"},
    {"std_msgs/msg/Header", "f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01"},
    {"std_msgs/msg/String", "df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"},
    {"std_srvs/srv/Trigger_Request",
     "d010825374ce8918e72bfd826c82603e60f45419e932ea976f807b74a863a199"},
    {"std_srvs/srv/Trigger_Response",
     "2d946c21e2fc3f1e9ca6986a8191d85fcc70097a8bb7771a053564bc47009cdf"},
    {"tf2_msgs/msg/TFMessage", "e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087"},
    {"type_description_interfaces/srv/GetTypeDescription_Request",
     "470f56ccbcf13d55c78c8b735fb12da03e639e5acded994426c89d94778d9e28"},
    {"type_description_interfaces/srv/GetTypeDescription_Response",
     "648c49d976240861a482f961c5621ddd0d2135d8cce6f297a76d4f6376d93b75"},
};

static int compare(const void *key, const void *row)
{
  return strcmp(key, ((const type_hash_t *)row)->type);
}

/* Types that the program has registered. They are never removed: their number is that of its types.
 */
typedef struct registered {
  struct registered *next;
  char sha256[TB__TYPE_HASH_SIZE];
  char type[];
} registered_t;

static tb__mutex_t mutex;
static registered_t *first_registered TB_GUARDED_BY(mutex);

static registered_t *registered_find(const char *type) TB_REQUIRES(mutex)
{
  registered_t *entry = first_registered;
  while (entry && strcmp(entry->type, type) != 0)
    entry = entry->next;
  return entry;
}

bool tb__type_hash_find(const char *type, char out[TB__TYPE_HASH_SIZE])
{
  const char *found = NULL;
  tb__mutex_lock(&mutex);
  const registered_t *entry = registered_find(type);
  if (entry) {
    found = entry->sha256;
  } else {
    const type_hash_t *row =
        bsearch(type, hashes, sizeof hashes / sizeof hashes[0], sizeof hashes[0], compare);
    if (row) found = row->sha256;
  }
  if (found) memcpy(out, found, TB__TYPE_HASH_SIZE);
  tb__mutex_unlock(&mutex);
  return found != NULL;
}

void tb__type_hash_user_data(const char *type, char out[TB__TYPE_HASH_USER_DATA_SIZE])
{
  char hash[TB__TYPE_HASH_SIZE];
  out[0] = '\0';
  if (tb__type_hash_find(type, hash))
    snprintf(out, TB__TYPE_HASH_USER_DATA_SIZE, PREFIX_KEY PREFIX "%s;", hash);
}

static bool is_hash(const char *text)
{
  size_t length = strlen(PREFIX);
  return text && strncmp(text, PREFIX, length) == 0 &&
         strspn(text + length, "0123456789abcdef") == TB__TYPE_HASH_SIZE - 1 &&
         strlen(text + length) == TB__TYPE_HASH_SIZE - 1;
}

tb_status_t tb_ros2_type_hash_register(const char *type, const char *hash, tb_error_t *error)
{
  char full[TB__DDS_NAME_SIZE];
  if (tb__is_forked())
    return tb_error_set(error, TB_ERR_FORKED, "type hash: %s", tb_status_message(TB_ERR_FORKED));
  tb_status_t status = tb__type_name_normalize(type, full, error);
  if (status) return status;
  if (!is_hash(hash))
    return tb_error_set(error, TB_ERR_INVALID,
                        "type hash of %s: '%.80s' is invalid: must be " PREFIX " and 64 hex digits",
                        full, hash ? hash : "(null)");
  size_t size = strlen(full) + 1;
  registered_t *made = malloc(sizeof *made + size);
  if (!made) return tb_error_set(error, TB_ERR_NO_MEMORY, "type hash of %s: out of memory", full);
  memcpy(made->type, full, size);
  tb__mutex_lock(&mutex);
  registered_t *entry = registered_find(full);
  if (!entry) {
    entry = made;
    entry->next = first_registered;
    first_registered = made;
    made = NULL;
  }
  memcpy(entry->sha256, hash + strlen(PREFIX), TB__TYPE_HASH_SIZE);
  tb__mutex_unlock(&mutex);
  free(made);
  return TB_OK;
}
